/*
 * Reported tokens in the fold. Of a reported run they are all there is: each action is a step of a graph that grows with
 * them, in the states of ATD section 3.3 as NOTES 3.1 to 3.3 read them.
 *
 *   an action                          running, by its agent; a node with edges from the steps in `par`
 *   a completion of the same agent,
 *   or the next action linked to it    done
 *   atd:error, error or critical       failed
 *   atd:rollback_result of the holder  rolled back, escalated, or failed
 *   atd:checkpoint of the same agent   a checkpoint that its agent can be asked to go back to
 *
 * In a run of ours they hang under the step they follow and change none of its states: a checkpoint is noted, and what
 * the agent says of its own breakers is seen. The rest is for people to read.
 */
import type { GraphNode } from '@/lib/workflow/graph'
import { grows } from '@/lib/workflow/growing-index'
import type { FactOf } from './facts'
import { isAction, isCompletion } from './reported'
import type { CheckpointRef, ReportedRun, Run, Visit, VisitError } from './run'
import { countState, setState } from './visit-states'

type ReportedFact = FactOf<'reported'>
type Place = { node: string; visit: number }

export function evolveReported(run: Run, fact: ReportedFact): void {
  run.reported ??= newReported()
  const { reported } = run
  reported.tokens += 1
  reported.agents.add(fact.agent)
  for (const agent of fact.meantFor ?? []) reported.handedTo.add(agent)
  const place = placeOf(run, fact)
  if (place) reported.placeOf.set(fact.jti, place)
  if (fact.meaning === 'circuit_open' || fact.meaning === 'circuit_close') see(run, fact)
  if (fact.meaning === 'checkpoint') keepCheckpoint(run, fact, place)
  if (!grows(run.graph)) return
  run.lastAt = Math.max(run.lastAt, fact.at)
  evolveSteps(run, reported, fact, place)
}

function newReported(): ReportedRun {
  return {
    tokens: 0,
    placeOf: new Map(),
    agents: new Set(),
    handedTo: new Set(),
    sealed: new Map(),
  }
}

/** Who began a reported run: its agent's SPIFFE id. */
export function reporterOf(run: Run): string | undefined {
  const by = run.start?.by
  return run.graph.graph.reported && by?.startsWith('agent:') ? by.slice('agent:'.length) : undefined
}

/** The nodes whose visits a reported token can have changed. To be asked once it was folded. */
export function nodesTouchedBy(run: Run, fact: ReportedFact): string[] {
  if (!run.graph.graph.reported || !run.reported) return []
  if (fact.meaning === 'workflow_complete') return [...run.visits.keys()]
  const { placeOf: places } = run.reported
  const checkpoint = fact.checkpointId === undefined ? undefined : run.checkpoints.get(fact.checkpointId)
  const touched = [fact.jti, ...fact.par].flatMap((jti) => places.get(jti)?.node ?? [])
  return [...new Set([...touched, ...(checkpoint ? [checkpoint.node] : [])])]
}

/** The visit that a token is of or hangs under. */
function placeOf(run: Run, fact: ReportedFact): Place | undefined {
  const { reported } = run
  if (run.graph.graph.reported && isStep(run, fact)) return { node: fact.jti, visit: 1 }
  for (const jti of fact.par) {
    const known = reported?.placeOf.get(jti) ?? ownPlace(run, jti)
    if (known) return known
  }
  return undefined
}

/** Where one of our own tokens stands: only those that agents are told of by id. */
function ownPlace(run: Run, jti: string): Place | undefined {
  const checkpoint = run.checkpoints.get(jti)
  if (checkpoint) return { node: checkpoint.node, visit: checkpoint.visit }
  for (const { node, visit, taskJti, doneJti, lastJti } of run.visits.values()) {
    if (taskJti === jti || doneJti === jti || lastJti === jti) return { node, visit }
  }
  return undefined
}

/** An action that is no completion of a step of the same agent. */
function isStep(run: Run, fact: ReportedFact): boolean {
  return isAction(fact) && !(isCompletion(fact) && ownParents(run, fact).length > 0)
}

/** The steps of its own agent that a token follows. */
function ownParents(run: Run, fact: ReportedFact): Visit[] {
  return parentSteps(run, fact).filter((visit) => agentOf(run, visit) === fact.agent)
}

function parentSteps(run: Run, { par }: ReportedFact): Visit[] {
  const nodes = new Set(par.flatMap((jti) => run.reported?.placeOf.get(jti)?.node ?? []))
  return [...nodes].flatMap((node) => run.visits.get(node) ?? [])
}

function agentOf(run: Run, visit: Visit): string | undefined {
  const agent = run.graph.nodes.get(visit.node)?.config.agent
  return typeof agent === 'string' ? agent : undefined
}

function evolveSteps(run: Run, reported: ReportedRun, fact: ReportedFact, place: Place | undefined): void {
  switch (fact.meaning) {
    case 'error':
      return fail(run, fact)
    case 'rollback_result':
      return takeBack(run, fact)
    case 'workflow_complete':
      if (fact.agent === reporterOf(run)) end(run, reported, fact)
      return
    default:
      if (!isAction(fact)) return
      if (place?.node === fact.jti) return begin(run, fact)
      // Said after a failure, it was done after all.
      for (const visit of ownParents(run, fact)) finish(run, visit, fact, ['running', 'failed'])
  }
}

function begin(run: Run, fact: ReportedFact): void {
  const parents = parentSteps(run, fact)
  const node: GraphNode = {
    id: fact.jti,
    label: fact.label,
    kind: 'agent',
    config: { agent: fact.agent, act: fact.act },
    priority: 'normal',
    extra: {},
  }
  const before = parents.map((visit) => visit.node)
  if (grows(run.graph)) run.graph.grow(node, before)
  // ATD section 4.1: what has an effect has a checkpoint first.
  const visit: Visit = {
    node: fact.jti,
    visit: 1,
    attempt: 1,
    state: { status: 'pending' },
    reads: before,
    consequence: 'read_only',
    taskJti: fact.jti,
    startedAt: fact.at,
  }
  run.missing.set(fact.jti, 1)
  run.visits.set(fact.jti, visit)
  run.claimants.set(fact.jti, new Set([fact.agent]))
  countState(run, 'pending', 1)
  setState(run, visit, { status: 'running', attempt: 1, since: fact.at, agent: fact.agent })
  for (const parent of parents) finish(run, parent, fact, ['running'])
}

function finish(run: Run, visit: Visit, fact: ReportedFact, from: readonly Visit['state']['status'][]): void {
  if (!from.includes(visit.state.status)) return
  visit.doneJti = fact.jti
  const output = isCompletion(fact) ? (fact.outHash ?? '') : ''
  const tookMs = Math.max(0, fact.at - (visit.startedAt ?? fact.at))
  setState(run, visit, { status: 'done', output, since: fact.at, tookMs })
}

/** NOTES 3.3: `info` and `warning` fail nothing. */
function fail(run: Run, fact: ReportedFact): void {
  if (fact.severity !== 'error' && fact.severity !== 'critical') return
  const error = errorOf(fact)
  const checkpoint = fact.checkpointId === undefined ? undefined : run.checkpoints.get(fact.checkpointId)
  const named = checkpoint && run.visits.get(checkpoint.node)
  for (const visit of new Set([...parentSteps(run, fact), ...(named ? [named] : [])])) {
    const { status } = visit.state
    if (status !== 'running' && status !== 'done') continue
    visit.lastJti = fact.jti
    const tookMs = Math.max(0, fact.at - (visit.startedAt ?? fact.at))
    setState(run, visit, { status: 'failed', error, since: fact.at, tookMs })
  }
}

function errorOf(fact: ReportedFact): VisitError {
  const errorType = fact.errorType ?? 'unknown'
  return {
    jti: fact.jti,
    severity: fact.severity ?? 'error',
    errorType,
    code: errorType,
    description: fact.description || fact.act,
  }
}

/** Only the holder of a checkpoint can say what became of it. */
function takeBack(run: Run, fact: ReportedFact): void {
  const checkpoint = fact.checkpointId === undefined ? undefined : run.checkpoints.get(fact.checkpointId)
  const visit = checkpoint && run.visits.get(checkpoint.node)
  if (!checkpoint || !visit || checkpoint.agent !== fact.agent || fact.status === undefined) return
  const rollback = `rb_${fact.jti.replaceAll('-', '')}` as const
  run.checkpoints.set(checkpoint.jti, {
    ...checkpoint,
    undone: { rollback, status: fact.status, begun: true },
  })
  visit.lastJti = fact.jti
  if (fact.status === 'completed') setState(run, visit, { status: 'rolled_back', rollback, since: fact.at })
  else if (fact.status === 'failed') {
    setState(run, visit, { status: 'failed', error: errorOf(fact), since: fact.at, tookMs: 0 })
  } else setState(run, visit, { status: 'escalated', since: fact.at })
}

/** It is over, says who began it; where all went well, so did what nobody said more of. */
function end(run: Run, reported: ReportedRun, fact: ReportedFact): void {
  const terminal = fact.terminal ?? 'success'
  reported.ended ??= { jti: fact.jti, terminal, reason: fact.description }
  const linked = new Set(parentSteps(run, fact))
  for (const node of [...run.active]) {
    const visit = run.visits.get(node)
    if (visit && (terminal === 'success' || linked.has(visit))) finish(run, visit, fact, ['running'])
  }
}

/** Of a step whose agent never said what became of it before its run was over. */
export const noEndReported = 'no_end_reported'

/** A reported run is over: nobody is at work in it any more, whatever they have left unsaid. */
export function closeReported(run: Run, { jti, at }: { jti: string; at: number }): void {
  if (!run.graph.graph.reported) return
  for (const node of [...run.active]) {
    const visit = run.visits.get(node)
    if (visit?.state.status !== 'running') continue
    const description = 'Its agent never said what became of it'
    const error = {
      jti,
      severity: 'warning',
      errorType: 'unknown',
      code: noEndReported,
      description,
    } as const
    setState(run, visit, { status: 'failed', error, since: at, tookMs: 0 })
  }
}

/** The state stays with the agent; what is known of it is what its token says. */
function keepCheckpoint(run: Run, fact: ReportedFact, place: Place | undefined): void {
  const { jti, agent, at, outHash, reversible, rollbackUri, ttlS } = fact
  if (!place || outHash === undefined || reversible === undefined) return
  if (rollbackUri === undefined || ttlS === undefined) return
  const visit = run.visits.get(place.node)
  const isOwnStep = run.graph.graph.reported && visit && agentOf(run, visit) === agent
  if (run.graph.graph.reported && !isOwnStep) return
  // A group's `par` names its children (NOTES 3.4), which stand at the same agent.
  const children = fact.par.filter((id) => run.checkpoints.get(id)?.agent === agent)
  const ref: CheckpointRef = {
    jti,
    node: place.node,
    visit: place.visit,
    at,
    snapshot: outHash,
    reversible,
    rollbackUri,
    target: fact.target ?? '',
    description: fact.description,
    ttlS,
    undo: 'remote',
    agent,
    ...(children.length > 0 && { children }),
  }
  run.checkpoints.set(jti, ref)
  const key = `${place.visit} ${place.node}`
  const before = run.reported?.sealed.get(key) ?? []
  run.reported?.sealed.set(key, [...before, jti])
  if (!isOwnStep) return
  visit.checkpoint = jti
  visit.firstCheckpoint ??= jti
  visit.consequence = reversible && visit.consequence !== 'irreversible' ? 'reversible' : 'irreversible'
}

/** The name of an agent's own breaker in the fold; none of ours has such a one. */
export function reportedCircuitName(agent: string, downstream: string): string {
  return `reported ${agent} ${downstream}`
}

/** What the agent says of its own breaker. */
function see(run: Run, { agent, downstream, meaning, errorRate, cooldownS, jti, at }: ReportedFact): void {
  if (downstream === undefined) return
  const isOpen = meaning === 'circuit_open'
  const cooldown = cooldownS ?? (isOpen ? usualCooldownS : 0)
  const circuit = reportedCircuitName(agent, downstream)
  run.circuits.set(circuit, {
    circuit,
    caller: agent,
    downstream,
    status: isOpen ? 'open' : 'closed',
    errorRate: errorRate ?? 0,
    until: isOpen ? at + cooldown * 1000 : at,
    cooldownS: cooldown,
    reopened: 0,
    nodes: [],
    jti,
    at,
  })
}

/** ATD section 6.2: the first of an open breaker, where its token does not say. */
const usualCooldownS = 30
