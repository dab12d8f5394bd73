/** The one table of states on screen (components/ui/state.tsx) has a word, a shape and a colour for each. */
export type ShownState =
  | 'pending'
  | 'running'
  | 'waiting'
  | 'done'
  | 'failed'
  | 'rolled_back'
  | 'escalated'
  | 'skipped'
  | 'cancelled'
  | 'exhausted'
  | 'unknown'
