/*
 * Events from outside (RFC 0009): a state of external or hybrid orchestration is told what happened, by a person in the
 * inbox or by another system over the API. Where a question stands, the event is its answer, so that the first one wins
 * by the same rules on every path; a hybrid state takes one while its prompt is at work.
 */
import { actorOf, type Principal } from '@/lib/auth/principal'
import { clip } from '@/lib/base/clip'
import type { RunId } from '@/lib/base/ids'
import type { JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import { eventsOf } from '@/lib/engine/decide-events'
import type { IdempotentAnswer } from '@/lib/engine/ports'
import type { Approval, Run } from '@/lib/engine/run'
import { eventGivenRefusal } from '@/lib/hitl/decide-rules'
import type { GraphNode } from '@/lib/workflow/graph'
import { labelOf } from '@/lib/workflow/graph-index'
import { decideApproval } from './approvals'
import { eventTerms, slotValues } from './events'
import type { Installation } from './installation'

export interface EventWish {
  event: string
  /** Absent: the state the run is at. */
  node?: string
  comment: string
  artifacts?: JsonObject
  answer?: (place: EventPlace) => IdempotentAnswer
}

export interface EventPlace {
  node: string
  visit: number
}

/** What stands where the event is to go. */
type Waiting =
  | { how: 'question'; approval: Approval }
  | { how: 'at_work'; node: string; visit: number; role: string }

/**
 * Gives a state of a run its event. Throws Problem `bad_request` naming the events there are, `approval_role`,
 * `scope_missing`, `run_ended`, and `run_moved_on` where no state takes an event now, `not_found` for a node of another
 * workflow.
 */
export async function giveEvent(
  installation: Installation,
  runId: RunId,
  principal: Principal,
  wish: EventWish,
): Promise<EventPlace> {
  const { waiting, terms } = await installation.book.read(runId, (run) => {
    const found = waitingFor(run, wish)
    const node = found.how === 'question' ? found.approval.node : found.node
    const terms = { ...eventTerms(run, node), label: labelOf(run.graph, node) }
    return { waiting: structuredClone(found), terms }
  })
  const { event, comment, artifacts = {}, answer } = wish
  if (waiting.how === 'question') {
    const { id, action, node, visit } = waiting.approval
    const record = await installation.store.approvals.get(id)
    if (!record) throw new Problem('not_found', `No approval is known as "${id}"`)
    const decision = { verdict: 'event', action, comment, event, artifacts } as const
    await decideApproval(installation, record, principal, {
      ...decision,
      ...(answer && { answer: () => answer({ node, visit }) }),
    })
    return { node, visit }
  }
  const { node, visit, role } = waiting
  const refusal = eventGivenRefusal({ node, visit, role, ...terms }, principal, {
    event,
    artifacts: Object.keys(artifacts),
  })
  if (refusal) throw refusal
  const written = slotValues(terms.declared, artifacts)
  await installation.book.execute(
    runId,
    {
      type: 'give_event',
      node,
      visit,
      event,
      by: actorOf(principal),
      comment,
      ...(written.refs.length > 0 && { artifacts: written.refs }),
    },
    { values: written.values, ...(answer && { answer: () => answer({ node, visit }) }) },
  )
  return { node, visit }
}

function waitingFor(run: Run, { node: asked, event }: EventWish): Waiting {
  if (run.state.status === 'ended') {
    throw new Problem('run_ended', 'The run has ended; it takes no events any more.')
  }
  if (asked !== undefined && !run.graph.nodes.has(asked)) {
    const known = run.graph.graph.nodes.filter((one) => eventsOf(run, one).length > 0).map(({ id }) => id)
    throw new Problem(
      'not_found',
      `This workflow has no state "${clip(asked, 80)}"; events lead on from ${known.slice(0, 20).join(', ') || 'none'}.`,
      { nodes: known.slice(0, 100) },
    )
  }
  for (const id of run.openApprovals) {
    const approval = run.approvals.get(id)
    if (approval?.kind === 'event' && (asked === undefined || approval.node === asked)) {
      return { how: 'question', approval }
    }
  }
  const place = asked ?? run.walk?.path.at(-1)?.visit.node
  const node = place === undefined ? undefined : run.graph.nodes.get(place)
  const visit = place === undefined ? undefined : run.visits.get(place)
  if (node && visit?.state.status === 'running' && node.config.orchestration === 'hybrid') {
    const role = typeof node.config.role === 'string' ? node.config.role : 'operator'
    return { how: 'at_work', node: node.id, visit: visit.visit, role }
  }
  throw notWaiting(run, node, event)
}

/** Nobody waits for it: where the run stands, and whether somebody else gave the event already. */
function notWaiting(run: Run, node: GraphNode | undefined, event: string): Problem {
  if (!node) return new Problem('run_moved_on', 'No state of this run waits for an event.')
  const given = [...run.approvals.values()].findLast(
    (approval) =>
      approval.node === node.id && approval.state.status === 'decided' && approval.kind === 'event',
  )
  const events = eventsOf(run, node)
  const status = run.visits.get(node.id)?.state.status ?? 'unknown'
  const known = events.length > 0 ? ` Its events are ${events.join(', ')}.` : ''
  const first =
    given?.state.status === 'decided' && given.state.event !== undefined
      ? ` ${given.state.by} gave "${given.state.event}" to visit ${given.visit}.`
      : ''
  return new Problem(
    'run_moved_on',
    `${node.id} is ${status} and does not wait for "${clip(event, 80)}"; a state takes an event while it is external and waits, or hybrid and at work.${first}${known}`,
    { node: node.id, events },
  )
}
