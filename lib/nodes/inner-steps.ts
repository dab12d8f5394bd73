/*
 * What an author says of a step that is done as a graph of its own (an agent loop, a turn of a prompt state), said of
 * the steps of that graph: they make its calls. Its place in a pool and its time are the step's own, and an error within
 * is told to the model, so it leads to nothing by itself.
 */
import type { GraphNode, WorkflowGraph } from '@/lib/workflow/graph'

/**
 * An inner step with its owner's urgency and breakers. Nothing can be done without the model, so the step that asks it
 * (`thinks`) fails where others would be done without.
 */
export function innerStep(step: GraphNode, owner: GraphNode | undefined, thinks: boolean): GraphNode {
  if (!owner) return step
  const { priority, circuit, whenOpen } = owner
  const rule = thinks && whenOpen === 'degrade' ? 'fail' : whenOpen
  return { ...step, priority, ...(circuit && { circuit }), ...(rule && { whenOpen: rule }) }
}

/** Of the whole workflow's containment, what a rollback of the inner graph asks for. */
export function innerContainment({ containment }: WorkflowGraph): Pick<WorkflowGraph, 'containment'> {
  const { onUnprepared } = containment ?? {}
  return onUnprepared ? { containment: { onUnprepared } } : {}
}
