/*
 * Decisions that a fork takes over. Somebody was asked, looked at what there was, and said yes; a fork for real that
 * changes what they looked at would go on with a yes that nobody gave. So each value that is carried names the first
 * decision made since it was written, and an edit of it asks for that decision again.
 *
 *   propose ─▶ proposed_fix ─▶ review: Approved ─▶ ▮ execute       an edit here rests on review; from before it, none does
 *
 * A dry run decides nothing, so everything may be edited in it; a fork for real of such a dry run is held to the same.
 */

import type { RunId } from '@/lib/base/ids'
import { isJsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import type { Approval, ArtifactWrite, Visit } from '@/lib/engine/run'
import { visitOf } from '@/lib/engine/visit-states'
import { restsOnWords } from '@/lib/view/fork-rests'
import type { ForkDecision } from '@/lib/view/fork-wire'
import { readJson } from '@/lib/worker/run-book'
import { labelOf } from '@/lib/workflow/graph-index'
import { type Forked, forkPointAt } from './fork-point'
import type { Installation } from './installation'

/** Dry forks of dry forks that are looked through; a longer line is refused. */
const maxAbove = 20
const waitsForPeople = new Set(['await_event', 'pause_for_approval'])

/** A decision, and the numbers of the tokens it was carried out at. */
interface Carried {
  decision: ForkDecision
  node: string
  visit: number
  seq: number
}

export interface Resting {
  /** On which an edit of the input rests. */
  input?: ForkDecision
  /** On which an edit of a slot rests. */
  slot(name: string): ForkDecision | undefined
  /** Why no fork for real may begin here at all. */
  held?: string
}

/** The decisions that edits of a fork there would rest on; reads the ledger alone. */
export async function restingOn(installation: Installation, runId: RunId, forked: Forked): Promise<Resting> {
  const carried = await decisionsOf(installation, runId, forked)
  const input = carried[0]?.decision
  const held = await heldBy(installation, runId, forked, carried)
  return {
    ...(input && { input }),
    slot: (name) => firstSince(forked, carried, forked.point.run.artifacts.get(name) ?? []),
    ...(held !== undefined && { held }),
  }
}

/** Throws Problem `fork_rests_on_decision` for the first of the edited values that rests on one. */
export function refuseEdits(
  resting: Resting,
  edited: { input: boolean; artifacts: readonly string[] },
): void {
  if (resting.held !== undefined) throw new Problem('fork_rests_on_decision', resting.held)
  if (edited.input && resting.input) throw refusal('the input', resting.input)
  for (const name of edited.artifacts) {
    const decision = resting.slot(name)
    if (decision) throw refusal(`the artifact "${name}"`, decision, name)
  }
}

function refusal(what: string, decision: ForkDecision, artifact?: string): Problem {
  return new Problem('fork_rests_on_decision', restsOnWords(what, decision), {
    restsOn: decision,
    ...(artifact !== undefined && { artifact }),
  })
}

/** Carried steps that waited for people, in the order they were done. */
async function decisionsOf(installation: Installation, runId: RunId, forked: Forked): Promise<Carried[]> {
  const { graph, point } = forked
  const found: Carried[] = []
  for (const { node, visit: number, carriedAs } of point.visits) {
    const visit = visitOf(point.run, node, number)
    const kind = graph.nodes.get(node)?.kind ?? ''
    const asked = [...point.run.approvals.values()].findLast(
      (one) => one.node === node && one.visit === number && one.state.status === 'decided',
    )
    if (!visit || !(waitsForPeople.has(kind) || asked?.kind === 'event')) continue
    const seq = point.seqOf(visit.doneJti)
    const decision: ForkDecision = {
      node,
      label: labelOf(graph, node),
      visit: carriedAs,
      ...(await decidedBy(installation, visit, asked)),
      at: await before(installation, runId, forked, visit, seq),
    }
    found.push({ decision, node, visit: number, seq })
  }
  return found.sort((one, other) => one.seq - other.seq)
}

/** Who decided, and which event: as the question says, else, of a step that was taken over, as its output does. */
async function decidedBy(
  { store }: Installation,
  { state }: Visit,
  asked: Approval | undefined,
): Promise<Pick<ForkDecision, 'by' | 'event'>> {
  if (asked?.state.status === 'decided') {
    const { by, event } = asked.state
    return { by, ...(event !== undefined && { event }) }
  }
  const label = state.status === 'done' ? state.label : undefined
  const output = state.status === 'done' ? await readJson(store.ledger, state.output) : undefined
  const by =
    output !== undefined && isJsonObject(output) && typeof output.by === 'string' ? output.by : 'somebody'
  return { by, ...(label !== undefined && { event: label }) }
}

/** The token to fork at so that the step is asked again: of a walk the one that led to it. */
async function before(
  { store }: Installation,
  runId: RunId,
  { point }: Forked,
  { enteredFrom }: Visit,
  doneSeq: number,
): Promise<number> {
  if (!point.run.walk) return Math.max(1, doneSeq - 1)
  const row = enteredFrom === undefined ? undefined : await store.ledger.row(runId, enteredFrom)
  return row?.seq ?? 1
}

/** The first decision since a value was written. Entries of a list stand for themselves, so the oldest of them counts. */
function firstSince(
  { point }: Forked,
  carried: readonly Carried[],
  writes: readonly ArtifactWrite[],
  until = Number.POSITIVE_INFINITY,
): ForkDecision | undefined {
  const write = writes.at(-1)?.mode === 'append' ? writes[0] : writes.at(-1)
  const written = point.seqOf(write?.jti)
  const first = carried.find(
    ({ node, visit, seq }) =>
      seq < until && (seq > written || (write?.node === node && write.visit === visit)),
  )
  return first?.decision
}

/** What was edited in a dry run is not made real by forking that one as it is. */
async function heldBy(
  installation: Installation,
  runId: RunId,
  forked: Forked,
  carried: readonly Carried[],
  above = 0,
  still: (name: string) => boolean = () => true,
): Promise<string | undefined> {
  const { run, laid, seqOf } = forked.point
  const { start } = run
  if (!start?.dryRun || start.forkSeq === undefined) return undefined
  const untouched = new Set<string>()
  for (const [name, writes] of run.artifacts) {
    const last = writes.at(-1)
    if (!last || !still(name) || seqOf(last.jti) > laid) continue
    untouched.add(name)
    if (visitOf(run, last.node, last.visit)?.carriedFrom !== undefined) continue
    const earlier = run.artifactWrites.filter(
      (one) => one.artifact === name && seqOf(one.jti) < seqOf(last.jti),
    )
    const decision = firstSince(forked, carried, earlier, seqOf(last.jti))
    if (decision) return heldWords(runId, `the artifact "${name}"`, decision)
  }
  const of = (await installation.store.runs.get(runId))?.forkOf
  if (of === undefined || above >= maxAbove) {
    return 'This run comes from a longer line of dry runs than is looked through for decisions; fork the run they began with, or fork as a dry run'
  }
  const origin = await forkPointAt(installation, of, start.forkSeq)
  const taken = carried.find(({ seq }) => seq <= laid)
  if (taken && origin.point.run.start?.input !== start.input) {
    return heldWords(runId, 'the input', taken.decision)
  }
  const decided = await decisionsOf(installation, of, origin)
  return heldBy(installation, of, origin, decided, above + 1, (name) => untouched.has(name))
}

function heldWords(run: RunId, what: string, decision: ForkDecision): string {
  return `${restsOnWords(what, decision, 'was edited in a dry run')}; that token is of ${run}`
}
