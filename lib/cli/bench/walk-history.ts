/*
 * A long walk, made by the engine's own rules and the same for the same seed: many states, each with a way on, a way
 * back and a way across; attempts that fail, questions that people answer, artifacts that are written, nights in which
 * nothing happens. When the walk has come as far as a walk may, it is rolled back to its beginning and goes on.
 */
import { hashJson } from '@/lib/base/hash'
import { type Mint, type RollbackId, uuidOfText } from '@/lib/base/ids'
import type { ActionRef, Command } from '@/lib/engine/commands'
import { decide } from '@/lib/engine/decide'
import { evolve, newRun } from '@/lib/engine/evolve'
import type { Fact } from '@/lib/engine/facts'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { indexGraph } from '@/lib/workflow/graph-index'

const someHash = 'A'.repeat(43)

export interface WalkHistory {
  graph: WorkflowGraph
  facts: Fact[]
  transitions: number
}

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A run with so many entries of so many states. */
export function walkHistory(transitions: number, states: number, seed = 1): WalkHistory {
  const chance = seeded(seed)
  const graph = statesGraph(states, chance)
  const run = newRun(indexGraph(graph))
  const facts: Fact[] = []
  let minted = 0
  const mint: Mint = () => uuidOfText(`${seed} ${minted++}`)
  let now = Date.UTC(2026, 10, 21)
  let entries = 0
  const grant = (command: Command, afterMs = 5 + Math.floor(chance() * 40)) => {
    now += afterMs
    for (const fact of decide(run, command, { now, mint, chance: 0 }).facts) {
      evolve(run, fact)
      facts.push(fact)
    }
  }
  grant({ type: 'start', version: someHash, input: someHash, by: 'person:bench', dryRun: false })
  while (entries < transitions) {
    const place = run.walk?.path.at(-1)?.visit
    if (place?.state.status !== 'pending') {
      goBack(run.seq, `rb_${mint()}`, graph.nodes[0]?.id ?? '', grant)
      continue
    }
    entries += 1
    const { node, visit } = place
    if (chance() < 0.001) grant({ type: 'pause', by: 'person:ada', reason: 'Night' })
    if (run.state.status === 'paused') grant({ type: 'resume', by: 'person:ada' }, 8 * 3_600_000)
    if (chance() < 0.02) {
      grant({ type: 'begin', node, visit, action, timeoutS: 60 })
      grant({ type: 'failed', node, visit, attempt: 1, failure })
    }
    grant({ type: 'begin', node, visit, action, timeoutS: 60 })
    const attempt = place.attempt
    const event = events[Math.floor(chance() * chance() * events.length)]
    const writes =
      chance() < 0.3 ? [{ name: slots[entries % slots.length] as string, value: hashJson(entries) }] : []
    grant(
      {
        type: 'succeeded',
        node,
        visit,
        attempt,
        output: someHash,
        label: event,
        toolCalls: 1,
        artifacts: writes,
      },
      20 + Math.floor(chance() * 3_000),
    )
  }
  return { graph, facts, transitions: entries }
}

function goBack(seq: number, rollback: RollbackId, node: string, grant: (command: Command) => void): void {
  const by = 'person:ada'
  grant({
    type: 'roll_back',
    rollback,
    scope: 'full_workflow',
    node,
    checkpoints: [],
    plan: someHash,
    seq,
    reason: 'It went far enough',
    by,
    deadlineS: 60,
  })
  grant({
    type: 'rollback_ended',
    rollback,
    status: 'completed',
    cascaded: someHash,
    cascadedCount: 0,
    timedOut: false,
  })
  grant({ type: 'choose', rollback, choice: 'go_on', by })
}

const events = ['Ready', 'Failed', 'Skipped']
const slots = ['commit', 'report', 'log']

/** Each state goes on to the next, back to the one before, or on to one far away. */
function statesGraph(states: number, chance: () => number): WorkflowGraph {
  const id = (at: number) => `s${((at % states) + states) % states}`
  return {
    name: 'bench walk',
    description: 'States that go on, back and across',
    format: 'promptpack',
    order: 'stepwise',
    vocabulary: 'atd',
    nodes: Array.from({ length: states }, (_, at) => ({
      id: id(at),
      label: `State ${at}`,
      kind: 'prompt_state',
      config: { prompt: 'bench', template: 'Go on' },
      priority: 'normal',
      retry: { maxAttempts: 3, baseMs: 1, factor: 1, maxMs: 1, jitter: 0 },
      maxVisits: 1_000_000,
      extra: {},
    })),
    edges: Array.from({ length: states }, (_, at) => [
      { from: id(at), to: id(at + 1), when: 'Ready', extra: {} },
      { from: id(at), to: id(at - 1), when: 'Failed', extra: {} },
      { from: id(at), to: id(Math.floor(chance() * states)), when: 'Skipped', extra: {} },
    ]).flat(),
    starts: [{ name: 'main', node: id(0) }],
    artifacts: slots.map((name) => ({
      name,
      mediaType: 'application/json',
      mode: name === 'log' ? 'append' : 'replace',
      extra: {},
    })),
    budget: {},
    policy: { roots: [], privateTargets: [] },
    rules: [],
    extra: {},
  }
}

const action: ActionRef = {
  hash: someHash,
  consequence: 'read_only',
  target: '',
  sentence: 'Let the prompt take its turn',
  reads: [],
}

const failure = {
  severity: 'error',
  errorType: 'action_failed',
  code: 'bench',
  description: 'The step failed, as it was told to',
  retriable: true,
} as const
