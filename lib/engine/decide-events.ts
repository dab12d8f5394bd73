/*
 * Events from outside: a state of external or hybrid orchestration is told what happened, by a person or another system,
 * and the event picks the way on (RFC 0009). The first event is the one; whoever comes second is told so.
 */
import { clip } from '@/lib/base/clip'
import { Problem } from '@/lib/base/problem'
import type { GraphNode } from '@/lib/workflow/graph'
import type { Command } from './commands'
import { type ArtifactValue, addArtifacts } from './decide-artifacts'
import { currentVisit, latestOf, nodeOf, runningVisit } from './decide-steps'
import type { Draft } from './draft'
import type { Actor } from './facts'
import { movedOn } from './refusal'
import type { Run, Visit } from './run'

type Wish<T extends Command['type']> = Extract<Command, { type: T }>

/** An event as it is given. */
export interface GivenEvent {
  event: string
  by: Actor
  comment: string
  artifacts?: ArtifactValue[]
}

/** The events a node may be given: those its config lists, else the labels of the edges that leave it. */
export function eventsOf(run: Pick<Run, 'graph'>, node: GraphNode): string[] {
  if (Array.isArray(node.config.events))
    return node.config.events.filter((event) => typeof event === 'string')
  const labels = (run.graph.edgesFrom.get(node.id) ?? []).map((at) => run.graph.graph.edges[at]?.when)
  return [...new Set(labels.filter((label) => label !== undefined && label !== 'error'))] as string[]
}

/** Throws Problem `bad_request` when the node waits for other events. */
export function checkEvent(run: Run, node: GraphNode, event: string): void {
  const known = eventsOf(run, node)
  if (known.includes(event)) return
  const expected = known.length > 0 ? `expected ${known.join(' or ')}` : 'it waits for none'
  throw new Problem('bad_request', `"${clip(event, 80)}" is no event of ${node.id}; ${expected}`)
}

/** A hybrid state is given its event while its prompt is at work. Where a question stands, it is answered instead. */
export function decideEvent(run: Run, wish: Wish<'give_event'>, draft: Draft): void {
  const visit = currentVisit(run, wish.node, wish.visit)
  const node = nodeOf(run, wish.node)
  if (run.state.status !== 'running') throw movedOn(run, 'given an event')
  if (visit.state.status !== 'running' || node.config.orchestration !== 'hybrid') {
    throw new Problem(
      'run_moved_on',
      `${node.id} is ${visit.state.status} and waits for no event; it takes one while it is hybrid and at work`,
    )
  }
  checkEvent(run, node, wish.event)
  const { event, by } = wish
  const place = { node: node.id, visit: visit.visit }
  const comment = clip(wish.comment, 2000)
  const jti = draft.add({ type: 'event_given', ...place, event, by, comment }, [latestOf(visit)])
  completeByEvent(run, visit, wish, jti, draft)
}

/** The visit is done with that event: the artifacts that came along, then the completion. */
export function completeByEvent(
  run: Run,
  visit: Visit,
  given: GivenEvent,
  after: string,
  draft: Draft,
): void {
  const { event, by, comment, artifacts = [] } = given
  const written = addArtifacts(run, visit, artifacts, by, [after], draft)
  draft.add(
    {
      type: 'task_complete',
      node: visit.node,
      visit: visit.visit,
      attempt: Math.max(1, visit.attempt),
      output: draft.keep({ event, by, comment }),
      label: event,
    },
    [after, ...written],
  )
}

/** A running step stands still for a person in a run below it, or does not any more. */
export function decideHeld(run: Run, wish: Wish<'held'>, draft: Draft): void {
  const visit = runningVisit(run, wish.node, wish.visit, wish.attempt)
  const isHeld = visit.state.status === 'running' && visit.state.heldSince !== undefined
  if (isHeld === wish.held) throw new Problem('run_moved_on', `${wish.node} is known to be so already`)
  const { node, attempt } = wish
  draft.add({ type: wish.held ? 'step_held' : 'step_released', node, visit: wish.visit, attempt }, [
    latestOf(visit),
  ])
}
