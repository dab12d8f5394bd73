/*
 * The walk of a stepwise run, followed a second time by other means: along the facts, with a path and counts of its
 * own. It knows the rules (one place at a time, a label picks the edge, bounds hold, a rollback puts the place back)
 * and nothing of how the engine keeps them.
 */
import type { Fact, FactOf } from '@/lib/engine/facts'
import type { Run } from '@/lib/engine/run'
import { setsBack } from '@/lib/rollback/outcome'
import type { RollbackDecision } from '@/lib/rollback/terms'
import type { GraphIndex } from '@/lib/workflow/graph-index'
import { must } from './broken'

interface Place {
  node: string
  /** The token that led here: the first token of the visit follows it. */
  from: string
  edge?: number
  /** Unknown until something of the visit is written. */
  visit?: number
  takenBack?: boolean
  /** It came to an end, with what would have to be undone, or without. */
  ended?: 'with effect' | 'without'
  /** Artifact writes there were when it was come to. */
  writes: number
}

/** Errors of a rollback, which leave the walk where it is. */
const ofRollbacks = new Set([
  'rollback_timeout',
  'checkpoint_tampered',
  'checkpoint_expired',
  'checkpoint_missing',
])

export class WalkTruth {
  private path: Place[] = []
  private over = false
  private limit: string | undefined
  private readonly writes: FactOf<'artifact_set'>[] = []
  private readonly seen = new Map<string, number>()
  private readonly consequences = new Map<string, string | undefined>()
  /** Visits before which a state was sealed. */
  private readonly sealed = new Set<string>()
  private readonly decided = new Map<string, RollbackDecision>()
  private isDry = false
  private readonly asked = new Map<string, FactOf<'rollback_request'>>()

  constructor(private readonly graph: GraphIndex) {}

  /** The next fact of the run. Throws Broken when the walk could not have come to it. */
  add(fact: Fact): void {
    switch (fact.type) {
      case 'workflow_start':
        this.path = [{ node: fact.entry ?? '', from: fact.jti, writes: 0 }]
        this.isDry = fact.dryRun
        return
      case 'task_start':
        this.consequences.set(fact.node, fact.consequence)
        return this.standsAt(fact)
      case 'task_offered':
        return this.standsAt(fact)
      case 'checkpoint':
        this.sealed.add(`${fact.node} ${fact.visit}`)
        return
      case 'error':
        if (ofRollbacks.has(fact.code)) return
        this.standsAt(fact)
        if (fact.severity === 'error' || fact.severity === 'critical') this.endsHere('failed')
        return
      case 'approval_asked':
        if (fact.kind === 'approval' || fact.kind === 'event') this.standsAt(fact)
        return
      case 'artifact_set':
        this.standsAt(fact)
        this.writes.push(fact)
        return
      case 'task_complete':
        this.standsAt(fact)
        this.endsHere('done')
        return this.goOn(fact)
      case 'rollback_request':
        this.asked.set(fact.rollback, fact)
        return
      case 'rollback_decided':
        this.decided.set(fact.rollback, fact.decision)
        return
      case 'rollback_act_result':
        if (fact.status !== 'completed') return
        for (const place of this.path) {
          if (place.node === fact.node && place.visit === fact.visit) place.takenBack = true
        }
        return
      case 'rollback_result':
        return this.takeBack(fact)
      case 'rollback_choice':
        if (fact.choice === 'go_on') this.putBack(fact)
        return
      case 'workflow_complete':
        must(
          fact.terminalStatus !== 'success' || (this.over && this.limit === undefined),
          () => `The walk ended well at ${this.place?.node} although it could go on`,
        )
        if (fact.exhausted === undefined || fact.exhausted === 'max_wall_time_sec') return
        must(fact.exhausted === this.limit, () => `It ended by ${fact.exhausted}; it came to ${this.limit}`)
    }
  }

  /** Throws Broken unless the fold's walk stands where this one does. */
  compare(run: Run): void {
    const words = (path: { node: string; edge?: number }[]) =>
      path.map(({ node, edge }) => `${edge ?? ''}>${node}`).join(' ')
    const kept = run.walk?.path.map(({ visit, edge }) => ({ node: visit.node, edge })) ?? []
    must(
      words(kept) === words(this.path),
      () => `The fold walked ${words(kept)}; the facts say ${words(this.path)}`,
    )
    const written = [...run.artifacts].map(([name, all]) => `${name}: ${all.map(({ jti }) => jti).join()}`)
    const meant = [...new Set(this.writes.map(({ artifact }) => artifact))].map((name) => {
      const all = this.writes.filter(({ artifact }) => artifact === name)
      return `${name}: ${(all[0]?.mode === 'replace' ? all.slice(-1) : all).map(({ jti }) => jti).join()}`
    })
    must(
      written.sort().join() === meant.sort().join(),
      () => `The fold has artifacts ${written}; the facts say ${meant}`,
    )
    for (const { node } of this.path) {
      const { maxVisits = Number.POSITIVE_INFINITY } = this.graph.nodes.get(node) ?? {}
      must(this.timesEntered(node) <= maxVisits, () => `${node} was entered more often than it may be`)
    }
    for (const [at, edge] of this.graph.graph.edges.entries()) {
      const taken = run.walk?.taken.get(at) ?? 0
      must(taken === this.timesTaken(at), () => `The fold counts ${taken} for ${edge.from} → ${edge.to}`)
      must(
        taken <= (edge.maxIterations ?? taken),
        () => `${edge.from} → ${edge.to} was taken ${taken} times; ${edge.maxIterations} are allowed`,
      )
    }
  }

  private get place(): Place | undefined {
    return this.path.at(-1)
  }

  private timesTaken(edge: number): number {
    return this.path.filter((place) => place.edge === edge).length
  }

  private timesEntered(node: string): number {
    return this.path.filter((place) => place.node === node).length
  }

  private standsAt(fact: { type: string; node: string; visit: number; par: string[] }): void {
    const { place } = this
    const what = `A ${fact.type} of ${fact.node} in visit ${fact.visit}`
    if (!place) return must(false, () => `${what} came before the walk began`)
    must(place.node === fact.node && !this.over, () => `${what}: the walk stands at ${place.node}`)
    if (place.visit === undefined) {
      const last = this.seen.get(fact.node) ?? 0
      must(fact.visit > last, () => `${what} is no new visit`)
      must(fact.par.includes(place.from), () => `${what} does not follow from the step before it`)
      place.visit = fact.visit
      this.seen.set(fact.node, fact.visit)
    }
    must(place.visit === fact.visit, () => `${what}: the walk is in visit ${place.visit} of it`)
  }

  private goOn({ node, label, jti }: FactOf<'task_complete'>): void {
    const kind = this.graph.nodes.get(node)?.kind
    const ends = kind === 'terminate' || kind === 'fail'
    const open = [...this.graph.graph.edges.entries()].filter(
      ([at, edge]) =>
        !ends &&
        edge.from === node &&
        edge.when === label &&
        (edge.maxIterations === undefined || this.timesTaken(at) < edge.maxIterations),
    )
    const [only] = open
    const to = open.length === 1 && only ? this.accepting(only[1].to) : undefined
    if (to !== undefined && only)
      this.path.push({ node: to, from: jti, edge: only[0], writes: this.writes.length })
    else this.over = true
  }

  /** NOTES 14: exactly so many entries, then on_max_visits, as often as it takes. */
  private accepting(meant: string): string | undefined {
    const total = this.graph.graph.budget.maxTotalVisits
    if (total !== undefined && this.path.length === total) {
      this.limit = 'max_total_visits'
      return undefined
    }
    let to: string | undefined = meant
    for (let hops = 0; to !== undefined && hops < 50; hops++) {
      const { maxVisits, onMaxVisits }: { maxVisits?: number; onMaxVisits?: string } =
        this.graph.nodes.get(to) ?? {}
      if (maxVisits === undefined || this.timesEntered(to) < maxVisits) return to
      to = onMaxVisits
    }
    this.limit = 'max_visits'
    return undefined
  }

  private endsHere(how: 'done' | 'failed'): void {
    const place = this.place as Place
    const { node, visit } = place
    const hadEffect = how === 'done' && !this.isDry && this.consequences.get(node) !== 'read_only'
    place.ended = hadEffect || this.sealed.has(`${node} ${visit}`) ? 'with effect' : 'without'
  }

  /**
   * A completed rollback takes back whatever it reaches, whether there was something to undo or not; another one that was
   * carried out, what had nothing to undo.
   */
  private takeBack({ rollback, status }: FactOf<'rollback_result'>): void {
    const asked = this.asked.get(rollback)
    if (!asked || !setsBack(status, this.decided.get(rollback))) return
    const named = this.path.findLastIndex(({ node }) => node === asked.node)
    const from = asked.scope === 'full_workflow' ? 0 : named
    const to = asked.scope === 'single' ? named + 1 : this.path.length
    for (const place of from >= 0 ? this.path.slice(from, to) : []) {
      if (status === 'completed' || place.ended === 'without') place.takenBack = true
    }
  }

  private putBack({ rollback }: FactOf<'rollback_choice'>): void {
    const asked = this.asked.get(rollback)
    if (!asked) return
    const named = this.path.findLastIndex(({ node }) => node === asked.node)
    const places = [
      asked.scope === 'full_workflow' ? 0 : named,
      this.path.findIndex((place) => place.takenBack),
    ].filter((at) => at >= 0)
    if (places.length === 0) return
    const [{ node, from, edge, writes }] = this.path.splice(Math.min(...places)) as [Place]
    this.writes.length = writes
    this.path.push({ node, from, edge, writes })
    this.over = false
    this.limit = undefined
  }
}
