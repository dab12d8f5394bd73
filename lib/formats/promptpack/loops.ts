/*
 * The loops of a workflow: RFC 0009's validation rules 2, 5 and 7, and what follows from them. A loop that nothing
 * bounds, and a state that nothing leads to, are warnings; a chain of forced exits that closes on itself is an error,
 * because a run that came into it could neither stay nor leave.
 */
import { findCycles } from '@/lib/workflow/cycles'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { quoted } from '@/lib/workflow/graph-problem'
import type { Tell } from '../tell'
import type { ReadPack } from './read-pack'
import type { ReadState } from './states'

/** Tells what is wrong with the loops and the ends of a workflow. */
export function checkLoops(read: ReadPack, tell: Tell): void {
  checkExits(read, tell)
  checkCoherence(read, tell)
  checkUnguarded(read, tell)
  // Where the entry is no state, everything would be told as unreachable.
  const canTell = read.graph.starts.some(({ name }) => name === 'main')
  for (const state of read.hasWorkflow ? read.states : []) checkState(state, canTell, tell)
}

function checkState({ name, state, isReachable }: ReadState, canTell: boolean, tell: Tell): void {
  const path = ['workflow', 'states', name]
  if (!isReachable && canTell)
    tell({
      path,
      what: 'name',
      code: 'unreachable_state',
      severity: 'warning',
      message: `State ${quoted(name)} cannot be reached from the entry.`,
      mend: 'Let an event lead there, or remove it.',
    })
  if (!state.terminal && Object.keys(state.on_event ?? {}).length === 0 && state.max_visits === undefined)
    tell({
      path,
      what: 'name',
      code: 'dead_end',
      severity: 'warning',
      message: `State ${quoted(name)} leads nowhere and is not marked as terminal; a run ends there.`,
      mend: 'Write "terminal": true, or add the events that lead on.',
    })
}

/** Rule 2: each state that is left by force must let the run come to an end somewhere. */
function checkExits({ states }: ReadPack, tell: Tell): void {
  const byId = new Map(states.map((state) => [state.node.id, state]))
  const settled = new Set<ReadState>()
  for (const first of states) {
    const chain: ReadState[] = []
    const place = new Map<ReadState, number>()
    for (let at: ReadState | undefined = first; at && !settled.has(at); ) {
      const closed = place.get(at)
      if (closed !== undefined) {
        tellClosed(chain.slice(closed), tell)
        break
      }
      place.set(at, chain.length)
      chain.push(at)
      at = at.node.onMaxVisits === undefined ? undefined : byId.get(at.node.onMaxVisits)
    }
    for (const state of chain) settled.add(state)
  }
}

function tellClosed(chain: readonly ReadState[], tell: Tell): void {
  const [first] = chain
  if (!first) return
  const names = chain.map(({ name }) => quoted(name))
  const shown = names.length > 12 ? [...names.slice(0, 11), '…'] : names
  tell({
    path: ['workflow', 'states', first.name, 'on_max_visits'],
    code: 'exit_cycle',
    message: `Forced exits lead around in a circle: ${[...shown, names[0]].join(' → ')}. Once all have had their visits, a run could neither stay nor leave.`,
    mend: 'Let one of them lead to a state without "max_visits", or to a last one.',
  })
}

/** Rule 5: bounds of single states that the bound of all together never lets be reached. */
function checkCoherence({ graph, states }: ReadPack, tell: Tell): void {
  const { maxTotalVisits } = graph.budget
  if (maxTotalVisits === undefined) return
  const sum = states.reduce(
    (all, { node, isReachable }) => all + (isReachable ? (node.maxVisits ?? 0) : 0),
    0,
  )
  if (sum <= maxTotalVisits) return
  tell({
    path: ['workflow', 'engine', 'budget', 'max_total_visits'],
    code: 'budget_below_visits',
    severity: 'warning',
    message: `The states may be visited ${sum.toLocaleString('en-US')} times by their own "max_visits", and the budget ends the run after ${maxTotalVisits.toLocaleString('en-US')}; some of them are never reached.`,
    mend: `Write "max_total_visits" of at least ${sum}, or let the states be visited less often.`,
  })
}

/** Loops that neither a state on them nor the budget ends. */
function checkUnguarded({ graph, states }: ReadPack, tell: Tell): void {
  if (graph.budget.maxTotalVisits !== undefined || graph.budget.maxActiveS !== undefined) return
  const byId = new Map(states.map((state) => [state.node.id, state]))
  const bounded = new Set(graph.nodes.filter(({ maxVisits }) => maxVisits !== undefined).map(({ id }) => id))
  const own = graph.edges.filter(({ from, to }) => from === to && !bounded.has(from))
  const alone = [...new Set(own.map(({ from }) => from))].map((id) => [id])
  const cycles = findCycles(graph as WorkflowGraph).map(({ nodes }) => nodes)
  for (const cycle of [...alone, ...cycles]) {
    const names = cycle.map((id) => byId.get(id)?.name ?? id)
    const shown = (names.length > 12 ? [...names.slice(0, 11), '…'] : names).map(quoted)
    tell({
      path: ['workflow', 'states', names[0] ?? ''],
      what: 'name',
      code: 'loop_unbounded',
      severity: 'warning',
      message: `Nothing bounds the loop ${[...shown, quoted(names[0] ?? '')].join(' → ')}: no state on it has "max_visits", and the budget bounds neither visits nor time.`,
      mend: 'Add "max_visits" to a state on it, or "max_total_visits" to engine.budget.',
    })
  }
}
