import type { NotHereAsked } from '@/components/shell/not-here'
import { seqFrom } from '@/components/timeline/use-moment'
import type { RunView } from './use-run-view'

/** What a run has that an address may name. */
export interface InRun {
  hasNode(id: string): boolean
  hasVisit(node: string, visit: number): boolean
  /** Tokens there are; those on their way may be among what is asked for, so nothing is said of them yet. */
  seq: number
  reading: boolean
  artifacts: readonly string[]
  /** What is shown where no step was chosen: a step's label, or nothing. */
  shown: string | undefined
}

/** The first part of a run's address that names something which the run has not; undefined when it has all. */
export function notInRun(view: RunView, run: InRun): NotHereAsked | undefined {
  const { node, visit, at, token, cause, artifact } = view
  if (node !== undefined && !run.hasNode(node)) {
    const instead = run.shown === undefined ? 'the run as a whole is shown' : `“${run.shown}” is shown`
    return { what: 'step', asked: node, where: 'in this workflow', instead }
  }
  if (run.reading) return undefined
  if (node !== undefined && visit !== undefined && !run.hasVisit(node, Number(visit)))
    return { what: 'visit', asked: visit, where: 'of this step', instead: 'its latest is shown' }
  const isToken = (text: string) => (seqFrom(text) ?? Number.POSITIVE_INFINITY) <= run.seq
  const tokens = [
    [at, 'the run is shown at its last'],
    [token, 'the step is shown'],
    [cause, 'the step is shown'],
  ] as const
  for (const [asked, instead] of tokens) {
    if (asked !== undefined && !isToken(asked)) return { what: 'token', asked, where: 'in this run', instead }
  }
  if (artifact !== undefined && !run.artifacts.includes(artifact))
    return { what: 'artifact', asked: artifact, where: 'in this run', instead: 'all are shown' }
  return undefined
}
