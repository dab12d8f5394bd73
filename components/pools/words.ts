import { count } from '@/lib/ui/format-time'
import type { PoolRow } from '@/lib/view/pool-wire'
import type { Resources } from '@/lib/workflow/graph'

/** What a pool is called on screen. */
export function poolName({ name, label }: Pick<PoolRow, 'name' | 'label'>): string {
  return name === 'here' ? 'This machine' : label || name
}

/** "5 of 64 places taken". */
export function placesWords({ workflows, limits }: Pick<PoolRow, 'workflows' | 'limits'>): string {
  const running = workflows.reduce((sum, one) => sum + one.running, 0)
  return `${running.toLocaleString('en-US')} of ${count(limits.connections, 'place')} taken`
}

/** "8 processors, 16 GB": what is handed out, without what there is none of. */
export function capacityWords({ cpu = 0, memoryMb = 0, gpu = 0 }: Resources): string {
  const memory =
    memoryMb >= 1024 ? `${Math.round(memoryMb / 1024).toLocaleString('en-US')} GB` : `${memoryMb} MB`
  return [count(cpu, 'processor'), memory, gpu > 0 ? count(gpu, 'GPU') : ''].filter(Boolean).join(', ')
}

/** Text of a field as a number; undefined when it is empty. NaN is told apart by the server. */
export function numberIn(text: string): number | undefined {
  const trimmed = text.trim()
  return trimmed === '' ? undefined : Number(trimmed.replaceAll(',', ''))
}
