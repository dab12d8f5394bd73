import { StateMark } from '@/components/ui/state'
import type { RollbackView } from '@/lib/view/rollback-wire'

type Act = Pick<RollbackView['acts'][number], 'undo' | 'status'>

const words: Record<Act['undo'], { now: string; done: string }> = {
  restore: { now: 'restoring', done: 'restored' },
  remote: { now: 'restoring', done: 'restored' },
  compensate: { now: 'compensating', done: 'compensated' },
}

/** How far one act of a rollback is. */
export function ActMark({
  act: { undo, status },
}: {
  act: { undo: Act['undo']; status?: Act['status'] | undefined }
}) {
  if (status === undefined) return <StateMark state="running">{words[undo].now}</StateMark>
  if (status === 'completed') return <StateMark state="rolled_back">{words[undo].done}</StateMark>
  return <StateMark state={status === 'failed' ? 'failed' : 'escalated'}>{status}</StateMark>
}
