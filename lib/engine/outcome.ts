import { clip } from '@/lib/base/clip'
import type { Hash } from '@/lib/base/hash'
import type { ExhaustedLimit, TerminalStatus } from './facts'
import { errorsDue } from './follow-error'
import { exhaustionWords, workedUpWords } from './limits'
import type { ArtifactWrite, Run, Walk } from './run'
import { walkBound } from './walk'

export interface Outcome {
  terminal: TerminalStatus
  reason: string
  /** A limit of the workflow ends it. ATD section 3.2 has no word for that but `failed`. */
  exhausted?: ExhaustedLimit
}

/**
 * How the run ends if it ends now, or nothing while there is work left (ATD section 3.2).
 * A failed run is ended although it could be taken back: a rollback opens it again, and its end is written anew.
 */
export function outcomeOf(run: Run): Outcome | undefined {
  if (run.graph.graph.reported) return outcomeOfReported(run)
  const count = (status: Parameters<Run['counts']['get']>[0]) => run.counts.get(status) ?? 0
  if (run.state.status === 'cancelling') {
    if (count('running') > 0) return undefined
    const { by, reason, exhausted } = run.state
    const why = by === 'engine' ? reason : `Cancelled by ${by}: ${reason}`
    return { terminal: 'failed', reason: clip(why, 600), ...(exhausted && { exhausted }) }
  }
  if (run.state.status !== 'running' || run.takeBack !== undefined) return undefined
  if (run.active.size > 0 || run.ready.size > 0 || run.openApprovals.size > 0) return undefined
  // What an error leads to comes first: it may ask, or take back.
  if (errorsDue(run).length > 0) return undefined
  if (run.walk) return outcomeOfWalk(run, run.walk)
  if (count('escalated') > 0) return { terminal: 'escalated', reason: 'A step was escalated to a person' }
  const failed = count('failed')
  if (failed === 0 && count('pending') === 0 && count('rolled_back') === 0) {
    return { terminal: 'success', reason: '' }
  }
  const leavesDone = [...run.visits.values()].some(
    (visit) => visit.state.status === 'done' && (run.graph.children.get(visit.node)?.length ?? 0) === 0,
  )
  const reason = firstFailure(run)
  return {
    terminal: leavesDone ? 'partial' : 'failed',
    reason,
    ...(failedWith(run, runWorkedUp) && { exhausted: 'max_wall_time_sec' }),
  }
}

/** Agents drive it: it is over when the one that began it says so, or a person stops taking reports. */
function outcomeOfReported({ state, reported, openApprovals }: Run): Outcome | undefined {
  if (state.status === 'cancelling') {
    return { terminal: 'failed', reason: clip(`Cancelled by ${state.by}: ${state.reason}`, 600) }
  }
  if (state.status !== 'running' || openApprovals.size > 0) return undefined
  return reported?.ended && { terminal: reported.ended.terminal, reason: reported.ended.reason }
}

function firstFailure(run: Run): string {
  for (const node of run.graph.order) {
    const visit = run.visits.get(node)
    if (visit?.state.status === 'failed') return clip(`${node} failed: ${visit.state.error.description}`, 600)
  }
  return 'A step was taken back and not done again'
}

/** A walk ends where it stands: complete when its last step is, whatever it did not come to (agentd section 2). */
function outcomeOfWalk(run: Run, walk: Walk): Outcome {
  const failed = (reason: string) => ({ terminal: 'failed', reason: clip(reason, 600) }) as const
  const place = walk.path.at(-1)?.visit
  if (place?.state.status === 'escalated')
    return { terminal: 'escalated', reason: 'A step was escalated to a person' }
  if (place?.state.status === 'failed' && place.state.error.code === runWorkedUp)
    return { ...failed(`${workedUpWords}: ${place.state.error.description}`), exhausted: 'max_wall_time_sec' }
  if (place?.state.status === 'failed')
    return failed(`${place.node}${kindWords(run, place.node)} failed: ${place.state.error.description}`)
  if (place?.state.status !== 'done') return failed('A step was taken back and not done again')
  if (walk.ambiguous) {
    const edges = walk.ambiguous.map(({ from, to }) => `${from} → ${to}`).join(', ')
    return failed(`${place.node} has ${walk.ambiguous.length} matching out-edges: ${edges}`)
  }
  if (walk.exhausted) {
    return { ...failed(exhaustionWords(walk.exhausted)), exhausted: walk.exhausted.limit }
  }
  if (walk.path.length >= walkBound(run)) {
    return failed(`The run took ${walkBound(run)} steps and came to no end`)
  }
  const node = run.graph.nodes.get(place.node)
  if (node?.kind !== 'fail') return { terminal: 'success', reason: '' }
  return failed(typeof node.config.reason === 'string' ? node.config.reason : 'workflow failed')
}

/** What the step was meant to do, by the name that the workflow's author wrote. */
function kindWords(run: Run, node: string): string {
  const kind = run.graph.nodes.get(node)?.kind
  return kind === undefined || kind === node ? '' : ` (${kind})`
}

/** How a run ended, as whoever waits for it is told (agentd section 12, NOTES 17). */
export interface Ending {
  status: 'completed' | 'failed' | 'timed_out' | 'errored'
  exhausted?: ExhaustedLimit
  /** The step it ended at. Only of a walk. */
  lastNode?: string
  /** What its last step gave; absent for null. Only of a walk. */
  output?: Hash
  /** The artifacts as they are at the end; absent where the workflow declares none. */
  artifacts?: [name: string, writes: ArtifactWrite[]][]
  reason: string
}

function artifactsOf({ graph, artifacts }: Run): Pick<Ending, 'artifacts'> {
  if (graph.graph.artifacts.length === 0) return {}
  return { artifacts: [...artifacts].map(([name, writes]) => [name, writes.slice()]) }
}

/** The code of a step that was stopped because its run had no more time. */
export const outOfRunTime = 'run_out_of_time'

/** The code of a step that was stopped because its run may not work for longer. */
export const runWorkedUp = 'run_worked_up'

/** Steps are out of their run's time shortly before the run is, so the run may end by them. */
function failedWith({ visits }: Run, code: string): boolean {
  return [...visits.values()].some(({ state }) => state.status === 'failed' && state.error.code === code)
}

/** How the run ended; undefined while it has not. */
export function endingOf(run: Run): Ending | undefined {
  const { state } = run
  if (state.status !== 'ended') return undefined
  const place = run.walk?.path.at(-1)?.visit
  const common = { lastNode: place?.node, reason: state.reason, ...artifactsOf(run) }
  const kind = place && run.graph.nodes.get(place.node)?.kind
  if (state.terminal === 'success') {
    const output = kind !== 'terminate' && place?.state.status === 'done' ? place.state.output : undefined
    return { ...common, status: 'completed', output, reason: '' }
  }
  if (state.outOfTime || failedWith(run, outOfRunTime)) return { ...common, status: 'timed_out' }
  if (state.exhausted) return { ...common, status: 'failed', exhausted: state.exhausted }
  const declared = !run.walk || kind === 'fail' || state.cancelled !== undefined
  return { ...common, status: declared ? 'failed' : 'errored' }
}
