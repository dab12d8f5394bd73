/*
 * What a fork may do again: the consequential steps that the original did after the position, and those of the runs that
 * such steps began, however deep. What was carried is not done again; what was taken back before the position is past.
 * A step that began runs is not listed beside what they did.
 */
import type { Hash } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import { isJsonObject } from '@/lib/base/json'
import type { ForkPoint } from '@/lib/engine/fork-point'
import type { CheckpointRef, Run, Visit } from '@/lib/engine/run'
import type { RunRecord } from '@/lib/store/store'
import type { ForkEffect } from '@/lib/view/fork-wire'
import { maxCallDepth } from '@/lib/worker/child-runs'
import { readJson } from '@/lib/worker/run-book'
import { labelOf } from '@/lib/workflow/graph-index'
import type { Installation } from './installation'

/** Effects that are listed; a longer list says that there are more. */
export const maxEffects = 300
/** Runs that are looked at on each level. */
const widest = 200

/** One step that changed something, before its words are known. */
interface Noted {
  effect: ForkEffect
  /** ms since the epoch: when it began. */
  at: number
  /** The action it took its words from, where no checkpoint says them. */
  action?: Hash
}

/** Which visits of a run are done again; all of them in the runs below. */
type Again = (visit: Visit) => boolean

/** The list, oldest first, and whether there is more. */
export async function effectsAfter(
  installation: Installation,
  runId: RunId,
  workflow: string,
  point: ForkPoint,
): Promise<{ effects: ForkEffect[]; more: boolean }> {
  const found: Noted[] = []
  let more = false
  /** The runs of a level, and the visits of each that count. */
  let level = new Map<RunId, { workflow: string; again: Again }>([
    [runId, { workflow, again: againAfter(point) }],
  ])
  for (let depth = 0; depth <= maxCallDepth && level.size > 0; depth++) {
    const below = await installation.store.runs.list({ parents: [...level.keys()] }, { limit: widest })
    more ||= below.next !== undefined
    const next: typeof level = new Map()
    for (const [id, { workflow: name, again }] of level) {
      const children = below.items.filter(({ parent }) => parent?.runId === id)
      const noted = await installation.book.read(id, (run) => stepsOf(run, id, name, again, children))
      for (const step of noted.steps) found.push(step)
      for (const child of noted.children) next.set(child.runId, { workflow: child.workflowName, again: all })
    }
    level = next
    if (found.length > maxEffects) break
  }
  found.sort((a, b) => a.at - b.at)
  more ||= found.length > maxEffects
  const listed = found.slice(0, maxEffects)
  return { effects: await Promise.all(listed.map((one) => worded(installation, one))), more }
}

const all: Again = () => true

/** The visits that began after the position, or were under way or failed at it. */
function againAfter({ run, visits }: ForkPoint): Again {
  const key = (node: string, visit: number) => `${visit} ${node}`
  const carried = new Set(visits.map(({ node, visit }) => key(node, visit)))
  const before = new Set<string>()
  const path = run.walk && new Set(run.walk.path.map((step) => step.visit))
  for (const visit of everyVisit(run)) {
    if (visit.taskJti === undefined) continue
    // Left behind by a rollback, or taken back by one: the fork does not come to it again.
    const isPast =
      visit.state.status === 'rolled_back' || (path ? !path.has(visit) : run.visits.get(visit.node) !== visit)
    if (isPast) before.add(key(visit.node, visit.visit))
  }
  return ({ node, visit }) => !carried.has(key(node, visit)) && !before.has(key(node, visit))
}

function everyVisit(run: Run): Visit[] {
  return [...run.visits.values(), ...[...run.past.values()].flat()]
}

function stepsOf(run: Run, id: RunId, workflow: string, again: Again, below: readonly RunRecord[]) {
  const steps: Noted[] = []
  const children: RunRecord[] = []
  for (const visit of everyVisit(run)) {
    if (visit.taskJti === undefined || !again(visit)) continue
    const began = below.filter(({ parent }) => parent?.node === visit.node && parent.visit === visit.visit)
    children.push(...began)
    const { consequence } = visit
    if (began.length > 0 || consequence === undefined || consequence === 'read_only') continue
    steps.push(noteStep(run, id, workflow, visit, consequence))
  }
  return { steps, children }
}

function noteStep(
  run: Run,
  id: RunId,
  workflow: string,
  visit: Visit,
  consequence: ForkEffect['consequence'],
): Noted {
  const ref = visit.checkpoint ?? visit.firstCheckpoint
  const checkpoint = ref === undefined ? undefined : run.checkpoints.get(ref)
  const label = labelOf(run.graph, visit.node)
  const { description: sentence = '', target = '' } = checkpoint ?? {}
  return {
    effect: {
      run: id,
      workflow,
      node: visit.node,
      label,
      visit: visit.visit,
      consequence,
      sentence,
      target,
      happened: run.start?.dryRun ? 'none' : happened(visit, checkpoint),
    },
    at: visit.startedAt ?? 0,
    ...(sentence === '' && visit.action !== undefined && { action: visit.action }),
  }
}

function happened({ state }: Visit, checkpoint: CheckpointRef | undefined): ForkEffect['happened'] {
  if (state.status === 'rolled_back' || checkpoint?.undone?.status === 'completed') return 'rolled_back'
  return state.status === 'done' ? 'done' : 'unclear'
}

async function worded({ store }: Installation, { effect, action }: Noted): Promise<ForkEffect> {
  if (action === undefined) return effect
  const value = await readJson(store.ledger, action)
  const told = isJsonObject(value) ? value : {}
  const text = (member: string) =>
    typeof told[member] === 'string' ? (told[member] as string).slice(0, 800) : ''
  return { ...effect, sentence: text('sentence') || effect.label, target: text('target') }
}
