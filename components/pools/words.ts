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

/** What a number may be: from, to, and whether it is a whole one. */
export interface NumberBound {
  min: number
  max: number
  whole?: boolean
  optional?: boolean
}

/** Why a text is no number of that kind, in one sentence that says what to write; undefined when it is one. */
export function numberFault(text: string, { min, max, whole = false, optional = false }: NumberBound) {
  const value = numberIn(text)
  if (value === undefined && optional) return undefined
  const fits = value !== undefined && value >= min && value <= max && (!whole || Number.isInteger(value))
  if (fits) return undefined
  const kind = whole ? 'a whole number' : 'a number'
  const empty = optional ? ', or leave it empty' : ''
  return `Write ${kind} from ${min.toLocaleString('en-US')} to ${max.toLocaleString('en-US')}${empty}.`
}

/** Text of a field as a number; undefined when it is empty, NaN when it is none. */
export function numberIn(text: string): number | undefined {
  const trimmed = text.trim()
  return trimmed === '' ? undefined : Number(trimmed.replaceAll(',', ''))
}
