import type { CannotPrepare } from '@/lib/rollback/terms'

/** What a checkpoint turns out to be worth when its agent is asked about it. */
type Worth = 'fine' | Exclude<CannotPrepare, 'irreversible' | 'unreachable' | 'conflict'>

/** What the agents of one run remember, whatever happens to them. */
export class AgentMemory {
  /** Checkpoints, by their tokens. */
  readonly checkpoints = new Map<string, { node: string; state: string | null; worth: Worth }>()
  /** Answers to rollbacks, by rollback and checkpoint. */
  readonly answers = new Map<string, 'completed' | 'failed'>()
  /** How often each rollback of a checkpoint was carried out. */
  readonly executed = new Map<string, number>()
  readonly downUntil = new Map<string, number>()
}
