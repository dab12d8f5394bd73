/*
 * What holds the runs of a bundle together. Each ledger was verified on its own; here, that the runs are what they are
 * said to be of each other:
 *
 *   parent   … task_start ─────────────────────────────── task_complete (linked: the ends of its children) …
 *                  ╰─▶ child: workflow_start (par) … workflow_complete ─╯
 *   original … token n ─▶ fork: workflow_start (par, fork_wid, fork_seq)
 */

import { runIdOf } from '@/lib/base/ids'
import type { FactOf } from '@/lib/engine/facts'
import type { Manifest, Reference } from './bundle'
import { runEntries } from './bundle'
import type { BundleFailure } from './doubt'
import type { RunEvidence } from './evidence'
import { forkReference, parentReference, startOf } from './gather'

type Say = (failure: BundleFailure) => void

/** Says every link that does not hold. */
export function checkLinks(manifest: Manifest, runs: readonly RunEvidence[], say: Say): void {
  const byRun = new Map(runs.map((run) => [run.run, run]))
  const ends = new Map<string, RunEvidence>()
  for (const run of runs) for (const jti of run.seqOf.keys()) ends.set(jti, run)
  for (const run of runs) {
    const start = startOf(run)
    if (!start) {
      if (run.tokens > 0) say(fault(run, 1, 'does not begin with the token of a run’s start'))
      continue
    }
    checkStart(run, start, say)
    if (run.relation === 'child' || run.parent) checkParent(run, start, byRun, say)
    checkFork(run, start, byRun, say)
    checkEnds(run, ends, say)
  }
  const [root] = runs
  const start = root && startOf(root)
  if (!root || !start) return
  const forked = forkReference(start)
  checkReference(manifest.forkedFrom, forked && { ...forked, included: byRun.has(forked.run) }, root, say)
  checkReference(manifest.begunBy, parentReference(start, root), root, say)
}

function checkStart(run: RunEvidence, start: FactOf<'workflow_start'>, say: Say): void {
  if (start.version !== run.version)
    say(fault(run, 1, `is pinned to the version ${start.version}, and the manifest says ${run.version}`))
  if (start.by !== run.startedBy)
    say(
      fault(
        run,
        1,
        `was begun by ${start.by.slice(0, 80)}, and the manifest says ${run.startedBy.slice(0, 80)}`,
      ),
    )
}

function checkParent(
  run: RunEvidence,
  start: FactOf<'workflow_start'>,
  byRun: ReadonlyMap<string, RunEvidence>,
  say: Say,
): void {
  const { parent } = run
  if (!parent || start.parentWid === undefined || runIdOf(start.parentWid) !== parent.runId) {
    say(fault(run, 1, 'names another run as the one that began it than the manifest does'))
    return
  }
  const above = byRun.get(parent.runId)
  if (!above) {
    if (run.relation === 'child')
      say(fault(run, 1, `was begun by ${parent.runId}, which is not in the bundle`))
    return
  }
  const follows = start.par.map((jti) => above.notes[(above.seqOf.get(jti) ?? 0) - 1]?.fact)
  const isBegun = follows.some(
    (fact) => fact && 'visit' in fact && fact.node === parent.node && fact.visit === parent.visit,
  )
  if (!isBegun) {
    say(
      fault(
        run,
        1,
        `follows no token of visit ${parent.visit} of ${parent.node.slice(0, 80)} in ${parent.runId}`,
      ),
    )
  }
}

function checkFork(
  run: RunEvidence,
  start: FactOf<'workflow_start'>,
  byRun: ReadonlyMap<string, RunEvidence>,
  say: Say,
): void {
  const reference = forkReference(start)
  const original = reference && byRun.get(reference.run)
  if (!reference || !original) return
  const last = original.notes[(reference.seq ?? 0) - 1]
  if (last?.jti !== reference.jti) {
    say(
      fault(
        run,
        1,
        `was forked at token ${reference.seq} of ${original.run}, and that is another token than it follows`,
      ),
    )
  }
  for (const { seq, fact } of run.notes) {
    if (fact?.type !== 'step_carried') continue
    const from = original.notes[(original.seqOf.get(fact.from) ?? 0) - 1]?.fact
    // What the original carried over itself is carried over once more.
    const output = from && 'output' in from ? from.output : undefined
    if (output !== fact.output)
      say(
        fault(
          run,
          seq,
          `takes ${fact.node.slice(0, 80)} as done by a token that ${original.run} does not have so`,
        ),
      )
  }
}

/** The ends of children that a completion follows are in ledgers of this run's children. */
function checkEnds(run: RunEvidence, ends: ReadonlyMap<string, RunEvidence>, say: Say): void {
  for (const { seq, fact } of run.notes) {
    if (fact?.type !== 'task_complete' || !fact.linked) continue
    for (const jti of fact.linked) {
      const child = ends.get(jti)
      if (child?.parent?.runId === run.run && child.parent.node === fact.node) continue
      say(
        fault(
          run,
          seq,
          `follows the token ${jti} of a run below it, which no child of ${fact.node.slice(0, 80)} in the bundle has`,
        ),
      )
    }
  }
}

function checkReference(
  said: Reference | undefined,
  found: Reference | undefined,
  root: RunEvidence,
  say: Say,
): void {
  const same = (['run', 'wid', 'seq', 'jti', 'included'] as const).every(
    (member) => said?.[member] === found?.[member],
  )
  if (!same) say(fault(root, 1, 'names another run as its origin than the manifest does'))
}

function fault({ run, notes }: RunEvidence, seq: number, what: string): BundleFailure {
  const jti = notes[seq - 1]?.jti
  return {
    entry: runEntries(run).ledger,
    seq,
    ...(jti !== undefined && { jti }),
    code: 'bundle_link_broken',
    sentence: `Token ${seq} of ${run} ${what}.`,
  }
}
