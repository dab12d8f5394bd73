/*
 * Bars: the phases of visits. What phase a visit is in follows from its state in the fold, and nothing else:
 *
 *   pending, approved          none
 *   running                    at work; of a run below it that waits for a person: waiting
 *   waiting                    for a person, an agent, a breaker, the next attempt
 *   escalated                  until somebody settles it
 *   done, failed, rolled_back  none: the bar before it ends so. A visit that had no bar gets one of no length
 *
 * A token of a visit can change that visit alone. The few that speak of the run (an end, a cancel, a rollback) can
 * change all that is open, and a rollback what it takes back: the fold goes over those too.
 */
import type { RollbackId } from '@/lib/base/ids'
import { nodesTouchedBy } from '@/lib/engine/evolve-reported'
import { nodesInScope } from '@/lib/engine/evolve-rollback'
import type { Fact, FactOf } from '@/lib/engine/facts'
import type { Run, Visit, VisitState } from '@/lib/engine/run'
import { walkedFrom } from '@/lib/engine/walk'
import { type GraphIndex, labelOf } from '@/lib/workflow/graph-index'
import type { ShownState } from '../shown-state'
import { lastWhere } from './bounds'
import type { Bar, Lane, LaneBy, Seq } from './terms'

/** A bar in the making: the phase it stands for is compared with the visit's after each token. */
interface Open {
  bar: Bar
  phase: Phase
  tracks: { lane: GrowingLane; track: number }[]
}

interface Phase {
  /** Two states with the same key are one phase. */
  key: string
  shown: ShownState
  words: string
  waitsFor?: Bar['waitsFor']
}

interface GrowingLane extends Lane {
  tracks: Bar[][]
  /** Tracks whose last bar has ended. */
  free: number[]
}

export class BarKeeper {
  readonly #index: GraphIndex
  readonly #lanes: Record<LaneBy, Map<string, GrowingLane>> = { node: new Map(), agent: new Map() }
  readonly #lists: Record<LaneBy, GrowingLane[]> = { node: [], agent: [] }
  /** The open bar of each node: a node is in one phase at a time. */
  readonly #open = new Map<string, Open>()
  /** All bars of each node, in order: what a rollback may take back. */
  readonly #ofNode = new Map<string, Bar[]>()
  /** Undos under way, by checkpoint. */
  readonly #undos = new Map<string, { bar: Bar; tracks: Open['tracks'] }>()
  /** The agent that did each node last. */
  readonly #agents = new Map<string, string>()

  constructor(index: GraphIndex) {
    this.#index = index
  }

  get byNode(): readonly Lane[] {
    return this.#lists.node
  }

  get byAgent(): readonly Lane[] {
    return this.#lists.agent
  }

  /** Takes a token that was folded. */
  taken(run: Run, seq: Seq, at: number, fact: Fact): void {
    if (fact.type === 'task_start' && fact.agent !== undefined) this.#agents.set(fact.node, fact.agent)
    switch (fact.type) {
      case 'workflow_complete':
      case 'cancel_asked':
      case 'rollback_request':
      case 'rollback_choice':
        return this.#settleAll(run, seq, at)
      case 'rollback_act':
        return this.#undoBegins(fact, seq, at)
      case 'rollback_act_result':
        this.#undoEnds(fact, seq, at)
        return this.#takeBack(run, fact.node, fact.visit, fact.visit, seq)
      case 'rollback_result':
        this.#settleAll(run, seq, at)
        for (const [node, from] of firstInScope(run, fact.rollback)) {
          this.#takeBack(run, node, from, Number.POSITIVE_INFINITY, seq)
        }
        return
      case 'reported':
        for (const node of nodesTouchedBy(run, fact)) {
          this.#settle(run, node, seq, at)
          this.#takeBack(run, node, 1, Number.POSITIVE_INFINITY, seq)
        }
        return
      default:
        if ('visit' in fact) this.#settle(run, fact.node, seq, at)
    }
  }

  #settleAll(run: Run, seq: Seq, at: number): void {
    for (const node of [...this.#open.keys()]) this.#settle(run, node, seq, at)
  }

  /** Closes the node's bar if its phase is over, and opens the one that began. */
  #settle(run: Run, node: string, seq: Seq, at: number): void {
    const current = run.visits.get(node)
    if (!current) return
    const open = this.#open.get(node)
    if (open) {
      const visit = visitOf(run, node, open.bar.visit)
      if (visit && phaseOf(run, visit.state)?.key === open.phase.key) return
      this.#close(open, visit?.state, seq, at)
      if (visit && visit !== current) this.#flash(visit, seq, at)
    }
    const phase = phaseOf(run, current.state)
    if (phase) this.#begin(current, phase, seq, at)
    else this.#flash(current, seq, at)
  }

  #begin(visit: Visit, phase: Phase, seq: Seq, at: number): void {
    const bar = this.#barOf(visit, phase.shown, phase.words, seq, at)
    if (phase.waitsFor !== undefined) bar.waitsFor = phase.waitsFor
    this.#open.set(visit.node, { bar, phase, tracks: this.#place(bar) })
  }

  /** A visit that was over before it was at work: carried over, refused, failed before it began. */
  #flash(visit: Visit, seq: Seq, at: number): void {
    const { status } = visit.state
    if (status !== 'done' && status !== 'failed') return
    const last = this.#ofNode.get(visit.node)?.at(-1)
    if (last && last.visit >= visit.visit && last.waitsFor === undefined) return
    const bar = this.#barOf(visit, status, status, seq, at)
    bar.to = seq
    bar.toAt = at
    if (visit.carriedFrom !== undefined) {
      bar.carried = true
      bar.words = 'done in the run it was forked from'
    }
    for (const { lane, track } of this.#place(bar)) lane.free.push(track)
  }

  #barOf(visit: Visit, shown: ShownState, words: string, seq: Seq, at: number): Bar {
    const agent = this.#agentOf(visit)
    return {
      node: visit.node,
      visit: visit.visit,
      attempt: visit.attempt,
      label: labelOf(this.#index, visit.node),
      words,
      shown,
      ...(agent !== undefined && { agent }),
      from: seq,
      fromAt: at,
    }
  }

  #close(open: Open, state: VisitState | undefined, seq: Seq, at: number): void {
    const { bar, tracks } = open
    this.#open.delete(bar.node)
    bar.to = seq
    bar.toAt = at
    for (const { lane, track } of tracks) lane.free.push(track)
    if (bar.waitsFor !== undefined) return
    const end = endOf(bar, state)
    bar.shown = end.shown
    bar.words = end.words
    if (state?.status === 'waiting' && state.for === 'retry') bar.retried = true
  }

  /** Bars of the node's visits, from one to another, that the fold now holds to be taken back. */
  #takeBack(run: Run, node: string, fromVisit: number, toVisit: number, seq: Seq): void {
    const bars = this.#ofNode.get(node) ?? []
    for (let at = lastWhere(bars, (bar) => bar.visit < fromVisit) + 1; at < bars.length; at++) {
      const bar = bars[at] as Bar
      if (bar.visit > toVisit) return
      if (bar.takenBack || bar.waitsFor !== undefined) continue
      if (visitOf(run, node, bar.visit)?.state.status !== 'rolled_back') continue
      bar.takenBack = { seq, from: bar.shown }
      bar.shown = 'rolled_back'
    }
  }

  #undoBegins(fact: FactOf<'rollback_act'>, seq: Seq, at: number): void {
    const { node, visit, checkpointId } = fact
    const agent = this.#agents.get(node)
    const bar: Bar = {
      node,
      visit,
      attempt: 0,
      label: labelOf(this.#index, node),
      words: 'being taken back',
      shown: 'rolled_back',
      undo: true,
      ...(agent !== undefined && { agent }),
      from: seq,
      fromAt: at,
    }
    this.#undos.set(checkpointId, { bar, tracks: this.#placeInBoth(bar) })
  }

  #undoEnds({ checkpointId, status }: FactOf<'rollback_act_result'>, seq: Seq, at: number): void {
    const undo = this.#undos.get(checkpointId)
    if (!undo) return
    this.#undos.delete(checkpointId)
    const { bar, tracks } = undo
    bar.to = seq
    bar.toAt = at
    bar.words = status === 'completed' ? 'taken back' : `taking it back: ${status}`
    if (status === 'failed' || status === 'escalated') bar.shown = status
    for (const { lane, track } of tracks) lane.free.push(track)
  }

  #place(bar: Bar): Open['tracks'] {
    const bars = this.#ofNode.get(bar.node)
    if (bars) bars.push(bar)
    else this.#ofNode.set(bar.node, [bar])
    return this.#placeInBoth(bar)
  }

  #placeInBoth(bar: Bar): Open['tracks'] {
    return [
      this.#placeIn('node', bar.node, bar.label, bar),
      this.#placeIn('agent', bar.agent ?? '', agentLabel(bar.agent), bar),
    ]
  }

  #placeIn(by: LaneBy, id: string, label: string, bar: Bar): { lane: GrowingLane; track: number } {
    let lane = this.#lanes[by].get(id)
    if (!lane) {
      lane = { id, by, label, tracks: [], free: [] }
      this.#lanes[by].set(id, lane)
      this.#lists[by].push(lane)
    }
    const track = lane.free.length > 0 ? takeLowest(lane.free) : lane.tracks.push([]) - 1
    lane.tracks[track]?.push(bar)
    return { lane, track }
  }

  #agentOf(visit: Visit): string | undefined {
    if (visit.state.status === 'running' && visit.state.agent !== undefined) return visit.state.agent
    const node = this.#index.nodes.get(visit.node)
    const named = node?.kind === 'agent' ? node.config.agent : undefined
    return typeof named === 'string' ? named : this.#agents.get(visit.node)
  }
}

/** What a bar shows at a moment of the run: nothing before it began, and what was taken back only since then. */
export function shownAt(bar: Bar, seq: Seq): ShownState | undefined {
  if (seq < bar.from) return undefined
  if (bar.to === undefined || seq < bar.to)
    return bar.waitsFor === undefined ? 'running' : phaseShown[bar.waitsFor]
  if (bar.takenBack && seq < bar.takenBack.seq) return bar.takenBack.from
  return bar.shown
}

/** Who waits for what, as screens show states: amber is for people alone. */
const phaseShown: Record<NonNullable<Bar['waitsFor']>, ShownState> = {
  person: 'waiting',
  agent: 'pending',
  breaker: 'pending',
  retry: 'running',
}

function phaseOf(run: Run, state: VisitState): Phase | undefined {
  switch (state.status) {
    case 'running':
      if (state.heldSince !== undefined)
        return waiting('person', 'waiting for a person, in a run below it', 'held')
      return { key: `running ${state.attempt}`, shown: 'running', words: 'running' }
    case 'waiting': {
      if (state.for !== 'person') return waiting(state.for, waitWords[state.for], '')
      const approval = run.approvals.get(state.approval)
      if (approval && approval.state.status !== 'open') return undefined
      return waiting(
        'person',
        approval ? `waiting for ${approval.role}` : 'waiting for a person',
        state.approval,
      )
    }
    case 'escalated':
      return { key: 'escalated', shown: 'escalated', words: 'escalated to a person', waitsFor: 'person' }
    default:
      return undefined
  }
}

const waitWords: Record<Exclude<NonNullable<Bar['waitsFor']>, 'person'>, string> = {
  agent: 'offered to agents',
  breaker: 'waiting behind a breaker',
  retry: 'waiting for the next attempt',
}

function waiting(waitsFor: NonNullable<Bar['waitsFor']>, words: string, key: string): Phase {
  return { key: `waiting ${waitsFor} ${key}`, shown: phaseShown[waitsFor], words, waitsFor }
}

/** How a phase of work ended, by what the visit is now. */
function endOf(bar: Bar, state: VisitState | undefined): { shown: ShownState; words: string } {
  switch (state?.status) {
    case 'done':
      return { shown: 'done', words: 'done' }
    case 'failed':
      return { shown: 'failed', words: 'failed' }
    case 'escalated':
      return { shown: 'escalated', words: 'escalated to a person' }
    case 'waiting':
      if (state.for === 'retry') return { shown: 'failed', words: `attempt ${bar.attempt} failed` }
      if (state.for === 'agent') return { shown: 'skipped', words: 'claim lapsed' }
      if (state.for === 'breaker') return { shown: 'skipped', words: 'call refused by a breaker' }
      return { shown: 'skipped', words: 'stopped to ask' }
    case 'running':
      // Its attempt was followed by another, or it began to wait for a run below it.
      return { shown: 'done', words: 'at work' }
    default:
      return { shown: 'skipped', words: 'given up' }
  }
}

/** The nodes that a rollback covers, each with the first of its visits that it does. */
function firstInScope(run: Run, id: RollbackId): Map<string, number> {
  const first = new Map<string, number>()
  const rollback = run.rollbacks.get(id)
  if (!rollback) return first
  const { walk } = run
  if (!walk) {
    for (const node of nodesInScope(run, rollback)) first.set(node, run.visits.get(node)?.visit ?? 1)
    return first
  }
  const all = rollback.scope === 'full_workflow'
  for (const { node, visit } of all ? walk.path.map((step) => step.visit) : walkedFrom(walk, rollback.node)) {
    if (!first.has(node)) first.set(node, visit)
  }
  return first
}

/** That visit of the node. Visits count up from 1, so a past one stands at its number. */
function visitOf(run: Run, node: string, visit: number): Visit | undefined {
  const current = run.visits.get(node)
  if (current?.visit === visit) return current
  const past = run.past.get(node)
  const guess = past?.[visit - 1]
  return guess?.visit === visit ? guess : past?.find((one) => one.visit === visit)
}

/** The end of a SPIFFE id is what people call an agent. */
function agentLabel(agent: string | undefined): string {
  return agent === undefined ? 'this installation' : agent.slice(agent.lastIndexOf('/') + 1) || agent
}

function takeLowest(free: number[]): number {
  let at = 0
  for (let one = 1; one < free.length; one++) if ((free[one] as number) < (free[at] as number)) at = one
  return free.splice(at, 1)[0] as number
}
