import type { WorkflowGraph } from '@/lib/workflow/graph'
import type { GraphPath } from '@/lib/workflow/graph-problem'
import type { ReadState } from './states'

/** A pack whose form is accepted, as its graph and what the checks need beside it. */
export interface ReadPack {
  graph: WorkflowGraph
  states: ReadState[]
  /** Place of an edge's event in the text. */
  edgePaths: GraphPath[]
  hasWorkflow: boolean
}
