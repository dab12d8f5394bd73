/*
 * Watching for cascades (cascade section 5): every fact that this process commits is told to the watch of lib/breaker, and
 * what it sees becomes a token of the run, with the blast radius as a document beside it. More than three affected ask a
 * person. The watch is never waited for: a run goes on while it looks, and what it missed in a crash is seen when it
 * grows.
 */
import type { RunId } from '@/lib/base/ids'
import { isProblem, Problem } from '@/lib/base/problem'
import { type CascadeInput, type CascadeSeen, CascadeWatch, cascadeThresholds } from '@/lib/breaker/cascade'
import type { Fact } from '@/lib/engine/facts'
import type { Run } from '@/lib/engine/run'
import { withDescendants } from '@/lib/workflow/graph-index'
import type { WorkerPorts } from './ports'
import type { FactsTold } from './run-book'
import { jsonValue } from './values'

/** The step at which something was noticed, and the token that says so. */
interface Trigger {
  runId: RunId
  node: string
  visit: number
  jti: string
}

type Says = Extract<CascadeInput, { kind: 'token' }>['says']

export class CascadeWatcher {
  readonly #ports: Pick<WorkerPorts, 'book' | 'ledger' | 'log'>
  readonly #watch = new CascadeWatch()
  /** Where things stand that no run says by itself: the step that was told of last. */
  #latest: Trigger | undefined

  constructor(ports: Pick<WorkerPorts, 'book' | 'ledger' | 'log'>) {
    this.#ports = ports
  }

  /** Takes note of committed facts. Quick, and never throws. */
  readonly told = ({ runId, run, facts }: FactsTold): void => {
    for (const fact of facts) {
      const input = inputOf(runId, run, fact)
      if (!input) continue
      const trigger =
        'visit' in fact ? { runId, node: fact.node, visit: fact.visit, jti: fact.jti } : undefined
      if (trigger) this.#latest = trigger
      this.#add(input, trigger)
    }
  }

  /** Answers of a downstream became slow, or something is full: noticed beside the runs. */
  noticed(input: Extract<CascadeInput, { kind: 'latency' | 'exhausted' }>): void {
    this.#add(input, this.#latest)
  }

  #add(input: CascadeInput, trigger: Trigger | undefined): void {
    for (const seen of this.#watch.add(input)) {
      if (trigger) void this.#record(seen, trigger)
    }
  }

  async #record(seen: CascadeSeen, trigger: Trigger): Promise<void> {
    const { book, log } = this.#ports
    const { runId } = trigger
    try {
      const { agents, ...place } = await book.read(runId, (run) => reached(run, seen, trigger))
      const count = Math.max(seen.affectedCount, agents.length)
      const blastRadius = jsonValue({ origin: seen.origin, agents: agents.slice(0, maxNamed), count })
      const par = await this.#ownTokens(seen, trigger)
      const { facts } = await book.execute(
        runId,
        {
          type: 'cascade',
          ...place,
          pattern: seen.pattern,
          affectedAgents: count,
          blastRadius: blastRadius.hash,
          description: seen.description,
          par,
        },
        { values: [blastRadius] },
      )
      // What several workflows share is asked about where its circuits are (circuit-questions.ts).
      if (isBeside(seen) || count <= cascadeThresholds.escalateAbove || seen.pattern === 'error_clustering')
        return
      await book.execute(runId, {
        type: 'ask_about',
        ...place,
        kind: 'cascade',
        role: 'operator',
        sentence: `${seen.description}. Take back what it touched, or let it be?`,
        reason: `${count} are affected; more than ${cascadeThresholds.escalateAbove} ask a person`,
        par: facts.map(({ jti }) => jti),
      })
    } catch (error) {
      // The run ended meanwhile, or says it already.
      if (isProblem(error)) return
      const fault = error instanceof Error ? error.message : 'unknown'
      log.error({ run: runId, fault }, `A cascade seen in ${runId} could not be recorded`)
    }
  }

  /** Those of the tokens it rests on that are this run's: a token's parents are in its own run. */
  async #ownTokens({ restsOn }: CascadeSeen, { runId, jti }: Trigger): Promise<string[]> {
    const own: string[] = []
    for (const token of restsOn) if (await this.#ports.ledger.row(runId, token)) own.push(token)
    return own.length > 0 ? own : [jti]
  }
}

/** Names of one document. */
const maxNamed = 200

/**
 * Where it comes from in this run, and whom it touches: those the pattern names, and whoever does a step that follows
 * from there (the blast radius; cascade section 2).
 */
function reached(run: Run, seen: CascadeSeen, trigger: Trigger) {
  // What is noticed beside the runs is recorded where things stand, and says nothing of that step.
  if (isBeside(seen) && run.state.status === 'ended')
    throw new Problem('run_moved_on', 'The run that was under way last has ended')
  if (isBeside(seen)) return { node: trigger.node, visit: trigger.visit, agents: seen.affected }
  const origin = run.visits.get(seen.node ?? '')
  const node = origin?.node ?? trigger.node
  const behind = withDescendants(run.graph, node).flatMap((id) => agentAt(run, id) ?? [])
  const visit = origin?.visit ?? trigger.visit
  return {
    node,
    visit,
    agents: [...new Set([...seen.affected.map((name) => agentAt(run, name) ?? name), ...behind])],
  }
}

/** A slow downstream, or a process short of memory or time: no failure of the step that was told of last. */
function isBeside({ pattern }: CascadeSeen): boolean {
  return pattern === 'latency_spike' || pattern === 'resource_exhaustion'
}

/** What the watch is told of a fact; undefined for what says nothing to it. */
function inputOf(runId: RunId, run: Run, fact: Fact): CascadeInput | undefined {
  switch (fact.type) {
    case 'circuit_open':
    case 'circuit_probe':
    case 'circuit_close': {
      const { jti: token, at, circuit, caller, downstream } = fact
      const status =
        fact.type === 'circuit_open' ? 'open' : fact.type === 'circuit_probe' ? 'half_open' : 'closed'
      return { kind: 'circuit', token, at, circuit, caller, downstream, status }
    }
    default: {
      const of = 'node' in fact ? { node: fact.node, agent: actorAt(run, fact.node) } : {}
      return {
        kind: 'token',
        run: runId,
        token: fact.jti,
        at: fact.at,
        par: fact.par,
        ...of,
        says: saysOf(fact),
      }
    }
  }
}

function saysOf(fact: Fact): Says {
  if (fact.type === 'task_start') return 'began'
  if (fact.type === 'task_complete') return 'done'
  const isFailure = fact.type === 'error' && (fact.severity === 'error' || fact.severity === 'critical')
  return isFailure ? 'failed' : 'other'
}

/** Who does a step: its agent, else the step itself. */
function actorAt(run: Run, node: string): string {
  return agentAt(run, node) ?? node
}

function agentAt(run: Run, node: string): string | undefined {
  const agent = run.graph.nodes.get(node)?.config.agent
  return typeof agent === 'string' ? agent : undefined
}
