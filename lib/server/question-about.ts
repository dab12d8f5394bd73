/** What a question is about, for its card: read from the run's fold, and of breakers from the store. */
import { isJsonObject, type JsonObject } from '@/lib/base/json'
import { partyName } from '@/lib/base/party-name'
import type { CircuitRecord } from '@/lib/engine/circuit-ports'
import type { Approval, Rollback, Run } from '@/lib/engine/run'
import { statusWithoutAct } from '@/lib/rollback/outcome'
import type { Plan, PlannedStep } from '@/lib/rollback/plan'
import type { CircuitParty } from '@/lib/view/circuit-wire'
import type { AboutCircuit, AboutError, AboutRollback, QuestionAbout } from '@/lib/view/question-wire'
import { rollbackViewOf } from '@/lib/view/rollback-view'
import { readJson } from '@/lib/worker/run-book'
import { labelOf } from '@/lib/workflow/graph-index'
import type { Installation } from './installation'

/** Breakers, and agents of a cascade, that a card names. */
const mostNamed = 50
/** Runs counted behind one breaker. */
const mostCounted = 1_000

/** As much of it as one turn of the book gives; the rest is looked up after. */
export type NotedAbout =
  | { what: 'told'; about: QuestionAbout }
  | { what: 'rollback'; about: AboutRollback; plan: string }
  | {
      what: 'cascade'
      about: Omit<Extract<QuestionAbout, { what: 'cascade' }>, 'agents'>
      blastRadius: string
    }
  | { what: 'circuit'; downstream: string | undefined }

/** What the run itself says of what a question is about; undefined for questions about a step's own act. */
export function noteAbout(run: Run, approval: Approval): NotedAbout | undefined {
  switch (approval.kind) {
    case 'rollback_unprepared':
    case 'rollback_critical': {
      const rollback = [...run.rollbacks.values()].findLast(({ plan }) => plan === approval.action)
      if (!rollback) return undefined
      return { what: 'rollback', about: aboutRollback(run, rollback), plan: rollback.plan }
    }
    case 'cascade':
      return noteCascade(run, approval)
    case 'circuit':
      return { what: 'circuit', downstream: downstreamAt(run, approval) }
    case 'agent_error': {
      const about = aboutError(run, approval)
      return about && { what: 'told', about }
    }
    default:
      return undefined
  }
}

/** The whole of it. */
export async function aboutOf(
  { store }: Pick<Installation, 'store'>,
  approval: Pick<Approval, 'id'>,
  noted: NotedAbout | undefined,
): Promise<QuestionAbout | undefined> {
  switch (noted?.what) {
    case undefined:
      return undefined
    case 'told':
      return noted.about
    case 'rollback': {
      const plan = (await readJson(store.ledger, noted.plan)) as unknown as Pick<Plan, 'steps'> | undefined
      return plan ? withoutAgreed(noted.about, plan) : noted.about
    }
    case 'cascade': {
      const told = await readJson(store.ledger, noted.blastRadius)
      return { ...noted.about, agents: agentsIn(told) }
    }
    case 'circuit':
      return aboutCircuit(store, approval, noted.downstream)
  }
}

function aboutRollback(run: Run, rollback: Rollback): AboutRollback {
  const { id, scope, only, node, by, reason, askedAt, before } = rollback
  const votes = [...rollback.votes.values()]
  const own = run.start === undefined ? undefined : ownIssuer(votes)
  return {
    what: 'rollback',
    rollback: id,
    scope,
    ...(only && { only }),
    node,
    label: labelOf(run.graph, node),
    by,
    reason,
    askedAt,
    cannot: votes
      .filter(({ vote }) => vote === 'cannot_prepare')
      .slice(0, mostNamed)
      .map(
        ({
          node,
          visit,
          agent,
          how,
          reason: why,
          description,
          conflict,
          checkpointId: checkpoint,
          changedBy,
          changedRun,
          changedNode,
        }) => ({
          node,
          visit,
          label: labelOf(run.graph, node),
          agent,
          here: how === 'here' || agent === own,
          ...(why && { why }),
          description,
          ...(conflict !== undefined && { conflict }),
          ...(changedBy !== undefined && { changed: true as const, checkpoint }),
          ...(changedRun && changedNode && { changedBy: { run: changedRun, node: changedNode } }),
        }),
      ),
    can: votes.filter(({ vote }) => vote === 'prepared').length,
    of: votes.length,
    critical: criticalSteps(run),
    ...(before?.status === 'ended' && { hadEnded: true as const }),
    now: nowOf(run, rollback),
  }
}

function nowOf(run: Run, rollback: Rollback): AboutRollback['now'] {
  const { phase, status, question } = rollbackViewOf(run, '', rollback)
  return { phase, status, ...(question && { question: question.approval }) }
}

/**
 * Leaves out what the plan said already cannot be undone or restored: that was agreed to with the plan, surprises nobody
 * and stops nothing (lib/rollback/votes.ts). And names the critical steps that the plan reaches, here and in runs below.
 */
function withoutAgreed(about: AboutRollback, { steps }: Pick<Plan, 'steps'>): AboutRollback {
  const counted = steps.filter(
    (step) => step.checkpointId !== undefined && statusWithoutAct(step.fate) === undefined,
  )
  const places = new Set(counted.map(({ node, visit }) => `${visit} ${node}`))
  const runsOf = new Map(counted.map((step) => [`${step.visit} ${step.node}`, step.runsBelow]))
  const cannot = about.cannot
    .filter(({ node, visit }) => places.has(`${visit} ${node}`))
    .map((one) => {
      const runs = runsOf.get(`${one.visit} ${one.node}`)
      return runs ? { ...one, runs } : one
    })
  const byNode = new Map(counted.map((step) => [step.node, step]))
  const below = counted.flatMap(({ criticalBelow = [] }) => criticalBelow)
  const critical = [
    ...about.critical.flatMap((one) => {
      const step = byNode.get(one.node)
      if (!step) return []
      return [step.agent === undefined ? one : { ...one, agent: step.agent }]
    }),
    ...below.map(({ visit: _visit, ...step }) => step),
  ]
  return {
    ...{ ...about, cannot, of: counted.length, critical: critical.slice(0, mostNamed) },
    holders: holdersOf(counted),
  }
}

/** Who holds what these steps left. */
function holdersOf(steps: readonly PlannedStep[]): NonNullable<AboutRollback['holders']> {
  const runs = steps.flatMap(({ runsBelow }) => runsBelow?.first ?? [])
  const agents = [...steps.flatMap(({ agent }) => agent ?? []), ...runs.flatMap(({ agents }) => agents)]
  return {
    agents: [...new Set(agents)].slice(0, mostNamed),
    runs: runs.slice(0, mostNamed),
    here: steps.some(({ agent, runsBelow }) => agent === undefined && !runsBelow),
  }
}

/** What is held here is told under this installation's own id. */
function ownIssuer(votes: readonly { agent: string; how: string }[]): string | undefined {
  return votes.find(({ how }) => how === 'here')?.agent
}

/** The run's critical steps (cascade section 8.1); the plan says which of them it reaches. */
function criticalSteps({ graph }: Run): AboutRollback['critical'] {
  return graph.graph.nodes.flatMap(({ id, priority }) =>
    priority === 'critical' ? [{ node: id, label: labelOf(graph, id) }] : [],
  )
}

function noteCascade(run: Run, approval: Approval): NotedAbout | undefined {
  const seen =
    run.cascades.findLast(({ node, at }) => node === approval.node && at <= approval.askedAt) ??
    run.cascades.at(-1)
  if (!seen) return undefined
  const { pattern, affectedAgents: affected, blastRadius, description, node, visit, at, jti } = seen
  return {
    what: 'cascade',
    blastRadius,
    about: {
      what: 'cascade',
      pattern,
      affected,
      origin: { node, label: labelOf(run.graph, node), visit },
      description,
      seenAt: at,
      token: jti,
    },
  }
}

function agentsIn(told: unknown): string[] {
  const agents = isJsonObject(told) ? (told as JsonObject).agents : undefined
  if (!Array.isArray(agents)) return []
  return agents.filter((name) => typeof name === 'string').slice(0, mostNamed)
}

function aboutError(run: Run, approval: Approval): AboutError | undefined {
  const signal = [...run.signals.values()].findLast(
    ({ node, at }) => node === approval.node && at <= approval.askedAt,
  )
  if (!signal) return undefined
  const { errorId, agent, severity, errorType, checkpointId, description, upstream, at } = signal
  const checkpoint = run.checkpoints.get(checkpointId)
  return {
    what: 'error',
    errorId,
    agent,
    severity,
    errorType,
    checkpoint: {
      token: checkpointId,
      node: signal.node,
      label: labelOf(run.graph, signal.node),
      visit: signal.visit,
      target: checkpoint?.target ?? '',
    },
    description,
    upstream,
    at,
  }
}

/** The downstream that the question names, or else what its step waits behind, met, or the run saw last. It stays so after the answer. */
function downstreamAt(run: Run, { node, sentence }: Approval): string | undefined {
  const seen = [...run.circuits.values()].reverse()
  const here = seen.filter(({ nodes }) => nodes.includes(node))
  const isNamed = ({ downstream }: { downstream: string }) => sentence.includes(` ${partyName(downstream)} `)
  const named = here.find(isNamed) ?? seen.find(isNamed)
  if (named) return named.downstream
  const state = run.visits.get(node)?.state
  if (state?.status === 'waiting' && state.for === 'breaker') return state.downstream
  return (here[0] ?? seen[0])?.downstream
}

async function aboutCircuit(
  { circuits }: Installation['store'],
  { id }: Pick<Approval, 'id'>,
  met: string | undefined,
): Promise<AboutCircuit | undefined> {
  const { holds } = await circuits.news(Number.MAX_SAFE_INTEGER)
  const hold = holds.find(({ approval }) => approval === id)
  const downstream = hold?.downstream ?? met
  if (downstream === undefined) return undefined
  const found = await circuits.ofDownstream(downstream)
  const open = found.filter(({ state }) => state.calculated.status !== 'closed')
  const rows = await Promise.all(
    (open.length > 0 ? open : found).slice(0, mostNamed).map(async (record) => ({
      ...circuitOf(record),
      waiting: (await circuits.waiting(record.id, mostCounted)).length,
    })),
  )
  return {
    what: 'circuit',
    downstream: partyOf(downstream),
    circuits: rows.sort((a, b) => b.waiting - a.waiting || b.errorRate - a.errorRate),
    more: open.length > mostNamed,
    held: hold !== undefined && hold.releasedAt === undefined,
  }
}

function circuitOf({ id, caller, state }: CircuitRecord): Omit<AboutCircuit['circuits'][number], 'waiting'> {
  const { calculated } = state
  const row = { id, caller: partyOf(caller), status: calculated.status, errorRate: 0 }
  if (calculated.status === 'closed') return row
  const { until, reopened } = calculated
  if (calculated.status === 'half_open') return { ...row, until, reopened }
  const { errorRate, calls, failures } = calculated
  return { ...row, errorRate, calls, failures, until, reopened }
}

const partyKinds = ['workflow', 'backend', 'mcp', 'host'] as const

function partyOf(id: string): CircuitParty {
  const kind = partyKinds.find((known) => id.startsWith(`${known}:`)) ?? 'agent'
  return { id, kind, name: partyName(id) }
}
