import type { Fact } from '@/lib/engine/facts'
import type { StoredValue } from '@/lib/engine/ports'
import type { WorkflowGraph } from '@/lib/workflow/graph'

/** A token of an act that this version does not know: its `exec_act`, and what its `ext` says. */
export interface UnknownAct {
  act: string
  ext: Record<string, string>
}

/** What a run is written from. */
export interface History {
  graph: WorkflowGraph
  facts: (Fact | UnknownAct)[]
  values: StoredValue[]
}
