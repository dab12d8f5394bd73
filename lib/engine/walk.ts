/*
 * The walk of a stepwise run: one place at a time, and the label of what was finished picks the edge (agentd section
 * 2, NOTES 17). A definition may be drawn in circles; the run never goes in one, it visits a node again, and each visit
 * is a step of its own in the ledger.
 *
 *   candidates of a finished step: its edges whose `when` is its label and whose loop bound is not used up
 *   none ─▶ the run is complete there      one ─▶ it is followed      two or more ─▶ the workflow is at fault
 *
 * Everything here follows from completions alone, so loop counts survive a pause, a crash and a restart.
 */
import type { Hash } from '@/lib/base/hash'
import type { GraphEdge } from '@/lib/workflow/graph'
import { forgetWrites } from './artifacts'
import type { Exhaustion, Rollback, Run, Visit, Walk, WalkStep } from './run'
import { startJti } from './start-token'
import { visitAnew } from './visit-states'

/** What stops a walk that loop bounds alone would let go on for days. */
const maxWalkSteps = 10_000
/** What stops any walk, whatever its workflow says. */
const maxDeclaredSteps = 100_000

/** How many steps a walk may take: as its workflow's budget says (`max_total_visits`), or 10,000. */
export function walkBound({ graph }: Pick<Run, 'graph'>): number {
  const declared = graph.graph.budget.maxTotalVisits ?? 0
  return Math.min(Math.max(maxWalkSteps, declared), maxDeclaredSteps)
}

/** Kinds that end the walk whatever edges leave them. */
const endingKinds: readonly string[] = ['terminate', 'fail']

export function newWalk(): Walk {
  return { path: [], taken: new Map(), outputs: new Map(), entered: new Map() }
}

/** How the walk came to a node: the edge it followed, and the states at their limit it was redirected from. */
type Arrival = Pick<WalkStep, 'edge' | 'insteadOf'>

/** The walk comes to a node, by an edge or as the first; `from` is the token that the next one of it follows. */
export function enter(run: Run, walk: Walk, node: string, from: string, by: Arrival = {}): void {
  const current = run.visits.get(node)
  if (!current) return
  const fresh = current.state.status === 'pending' && current.enteredFrom === undefined
  const visit = fresh ? current : visitAnew(run, node)
  visit.enteredFrom = from
  const step = { visit, ...by, writes: run.artifactWrites.length }
  walk.path.push(step)
  count(walk, step)
  run.missing.set(node, 0)
  run.ready.add(node)
}

function count(walk: Walk, { visit: { node }, edge }: WalkStep): void {
  if (edge !== undefined) walk.taken.set(edge, (walk.taken.get(edge) ?? 0) + 1)
  walk.entered.set(node, (walk.entered.get(node) ?? 0) + 1)
}

/** The place was finished: the walk goes on along the one edge that may be taken. */
export function follow(run: Run, walk: Walk, visit: Visit): void {
  if (walk.path.at(-1)?.visit !== visit || visit.state.status !== 'done') return
  walk.outputs.set(visit.node, visit)
  run.missing.set(visit.node, 1)
  if (endingKinds.includes(run.graph.nodes.get(visit.node)?.kind ?? '')) return
  const open = candidates(run, walk, visit.node, visit.state.label)
  if (open.length > 1) walk.ambiguous = open.map((edge) => run.graph.graph.edges[edge] as GraphEdge)
  const [only] = open
  if (open.length !== 1 || only === undefined || walk.path.length >= walkBound(run)) return
  const meant = (run.graph.graph.edges[only] as GraphEdge).to
  const place = accepting(run, walk, meant)
  if ('limit' in place) walk.exhausted = place
  else enter(run, walk, place.node, visit.doneJti ?? startJti(run), { edge: only, ...redirected(place) })
}

/**
 * The state that may be entered where this one was meant: itself while it is within its limit, else the one its
 * `on_max_visits` names, and so on until one accepts; or the limit that ends the walk (RFC 0009, NOTES 14).
 */
function accepting(run: Run, walk: Walk, meant: string): { node: string; insteadOf: string[] } | Exhaustion {
  const { maxTotalVisits } = run.graph.graph.budget
  if (maxTotalVisits !== undefined && walk.path.length >= maxTotalVisits) {
    return { limit: 'max_total_visits', bound: maxTotalVisits }
  }
  const insteadOf: string[] = []
  for (let node = meant; ; ) {
    const { maxVisits, onMaxVisits } = run.graph.nodes.get(node) ?? {}
    if (maxVisits === undefined || (walk.entered.get(node) ?? 0) < maxVisits) return { node, insteadOf }
    insteadOf.push(node)
    // A chain that closes on itself is refused when it is read; whoever brings one along still comes to an end.
    if (onMaxVisits === undefined || insteadOf.includes(onMaxVisits)) {
      return { limit: 'max_visits', node, bound: maxVisits }
    }
    node = onMaxVisits
  }
}

/** Where the walk would come to from a node on that label now: a state, or the limit that would end it; else nothing. */
export function placeAfter(
  run: Run,
  walk: Walk,
  node: string,
  label: string,
): { node: string; insteadOf: string[] } | Exhaustion | undefined {
  const [only, ...others] = candidates(run, walk, node, label)
  if (only === undefined || others.length > 0) return undefined
  return accepting(run, walk, (run.graph.graph.edges[only] as GraphEdge).to)
}

function redirected({ insteadOf }: { insteadOf: string[] }): Pick<WalkStep, 'insteadOf'> {
  return insteadOf.length > 0 ? { insteadOf } : {}
}

/** True when the walk could go on from a node along an edge of that label. */
export function mayFollow(run: Run, walk: Walk, node: string, label: string): boolean {
  return candidates(run, walk, node, label).length > 0
}

/** The numbers of the edges that may be taken from a node finished with that label. */
function candidates(run: Run, walk: Walk, node: string, label: string | undefined): number[] {
  return (run.graph.edgesFrom.get(node) ?? []).filter((at) => {
    const { when, maxIterations = Number.POSITIVE_INFINITY } = run.graph.graph.edges[at] as GraphEdge
    return when === label && (walk.taken.get(at) ?? 0) < maxIterations
  })
}

/** The visits from the latest one of a node on, in the order they were made. */
export function walkedFrom(walk: Walk, node: string): Visit[] {
  const at = walk.path.findLastIndex((step) => step.visit.node === node)
  return at === -1 ? [] : walk.path.slice(at).map((step) => step.visit)
}

/**
 * Where on its path a walk goes on after a rollback: at the node that was named, or at the beginning when all of it was
 * taken back; and never after a step that an earlier rollback took back and nobody went on from. Steps that were carried
 * over from another run are behind it for good. -1: nowhere.
 */
export function resumesAt(walk: Walk, { scope, node }: Pick<Rollback, 'scope' | 'node'>): number {
  const named = walk.path.findLastIndex((step) => step.visit.node === node)
  const own = walk.path.findIndex((step) => step.visit.carriedFrom === undefined)
  if (own === -1) return -1
  const asked = scope === 'full_workflow' || (named !== -1 && named < own) ? own : named
  const takenBack = walk.path.findIndex((step) => step.visit.state.status === 'rolled_back')
  return takenBack === -1 ? asked : asked === -1 ? takenBack : Math.min(asked, takenBack)
}

/**
 * Puts the walk back to before the step at that place of its path, whose node is entered again: what came after is left
 * behind, and what loops and outputs were then, they are again.
 */
export function retreat(run: Run, walk: Walk, at: number): void {
  if (at < 0 || at >= walk.path.length) return
  const left = walk.path.splice(at)
  walk.ambiguous = undefined
  walk.exhausted = undefined
  walk.taken.clear()
  walk.entered.clear()
  walk.outputs.clear()
  const [first] = left
  forgetWrites(run, first?.writes ?? 0)
  for (const step of walk.path) {
    count(walk, step)
    if (step.visit.state.status === 'done') walk.outputs.set(step.visit.node, step.visit)
  }
  for (const id of new Set(left.map((step) => step.visit.node))) {
    run.missing.set(id, 1)
    run.ready.delete(id)
    if (run.visits.get(id)?.enteredFrom !== undefined) visitAnew(run, id)
  }
  const { edge, insteadOf, visit } = first as WalkStep
  enter(run, walk, visit.node, visit.enteredFrom ?? startJti(run), { edge, ...(insteadOf && { insteadOf }) })
}

/** The output a path that begins with this node means: of its current visit, or of the latest on the walk. */
export function outputOf(run: Run, node: string): Hash | undefined {
  const visit = run.walk ? run.walk.outputs.get(node) : run.visits.get(node)
  return visit?.state.status === 'done' ? visit.state.output : undefined
}
