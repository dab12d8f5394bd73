/*
 * An open question, looked at again. Its preview was made when it was asked, and is the evidence that its token names: it
 * stays. What the step acts on may have changed meanwhile. So whoever opens the question has the step described again, by
 * the code that described it first and that only reads:
 *
 *   asked   describe ─▶ preview, in the question's token
 *   opened  describe ─▶ the same difference: nothing to say
 *                    ─▶ another one: what changed and the new one are shown, with the hash to decide on
 *   decided describe ─▶ that hash still: the decision's token names what the person saw (`hp.seen`)
 *                    ─▶ another one: refused, to be looked at again
 *
 * A file and an agent show what they would change. Of the other kinds there is nothing to compare, and where describing
 * fails or takes too long nothing is claimed.
 */
import { isJsonObject, type JsonObject } from '@/lib/base/json'
import { isProblem, Problem } from '@/lib/base/problem'
import type { StoredValue } from '@/lib/engine/ports'
import type { Approval, Run } from '@/lib/engine/run'
import { stepOf } from '@/lib/hitl/decide-rules'
import type { Verdict } from '@/lib/hitl/terms'
import { type Action, EffectFailed, type Preview } from '@/lib/runners/runner'
import type { ApprovalRecord } from '@/lib/store/store'
import type { ApprovalNow } from '@/lib/view/wire'
import { effectsFor } from '@/lib/worker/effects'
import { readJson } from '@/lib/worker/run-book'
import { jsonValue } from '@/lib/worker/values'
import type { Installation } from './installation'

/** A person waits for the card, and the card does not wait for this: what is not known by then is not claimed. */
const lookMs = 5_000

/** An action in words again, as it is or as a person edited it. Throws EffectFailed and Problem as `describe` does. */
export async function describedAgain(
  { ports, book }: Installation,
  runId: ApprovalRecord['runId'],
  question: Pick<Approval, 'node' | 'visit'>,
  action: JsonObject,
  withinMs: number,
): Promise<{ action: Action; preview?: Preview } | undefined> {
  const noted = await book.read(runId, (run, header) => ({
    node: run.graph.nodes.get(question.node),
    run: { graph: run.graph, start: run.start } as Run,
    header,
  }))
  const { node, visit } = { node: noted.node, visit: question.visit }
  const runner = node && ports.runnerOf(node.kind)
  if (!runner) return undefined
  const signal = AbortSignal.timeout(withinMs)
  const effects = effectsFor(ports, noted.run, noted.header, {
    ...{ node: node.id, visit, attempt: 1, signal, follows: [] },
  })
  return runner.describe(action, { node, visit, runId }, effects)
}

/** What the step would do by now; without `changed` where that is what was asked, or where nobody can tell. */
export async function lookAgain(installation: Installation, record: ApprovalRecord): Promise<ApprovalNow> {
  const changed = await changedPreview(installation, record)
  const at = installation.ports.timer.now()
  if (!changed) return { at }
  const { preview, stored, undo } = changed
  return { at, changed: { preview, seen: stored.hash, ...(undo !== undefined && { undo }) } }
}

interface Changed {
  preview: Preview
  stored: StoredValue
  /** How it would be undone, one sentence. */
  undo: string | undefined
}

async function changedPreview(
  installation: Installation,
  { id, runId, kind, state }: ApprovalRecord,
): Promise<Changed | undefined> {
  // A bundle is looked at far from what its steps acted on.
  if (installation.opened || kind !== 'approval' || state !== 'open') return undefined
  const { ledger } = installation.store
  const question = await installation.book.read(runId, (run) => {
    const approval = run.approvals.get(id as Approval['id'])
    return approval && structuredClone(approval)
  })
  if (!question?.preview) return undefined
  const asked = await readJson(ledger, question.preview)
  const action = await readJson(ledger, question.action)
  if (!isDiff(asked) || !isJsonObject(action) || !isJsonObject(action.do)) return undefined
  try {
    const said = await describedAgain(installation, runId, question, action.do, lookMs)
    const preview = said?.preview
    if (preview?.show !== 'diff' || isSame(asked, preview)) return undefined
    return { preview, stored: jsonValue(preview), undo: said?.action.undoSentence }
  } catch (error) {
    if (error instanceof EffectFailed || isProblem(error)) return undefined
    throw error
  }
}

type Diff = Pick<Extract<Preview, { show: 'diff' }>, 'before' | 'after'>

function isDiff(value: unknown): value is Diff & JsonObject {
  return isJsonObject(value) && value.show === 'diff'
}

/** A title may tell the time; what is there and what would be do not. */
function isSame(one: Diff, other: Diff): boolean {
  return one.before === other.before && one.after === other.after
}

/**
 * What the person says they saw in place of what `question` asked, to be kept with the decision. Throws Problem
 * `approval_changed` where it is no longer so and the step would act on it; whoever refuses is never held up by that.
 */
export async function stillSeen(
  installation: Installation,
  record: ApprovalRecord,
  question: Parameters<typeof stepOf>[0],
  { verdict, seen }: { verdict: Verdict; seen?: string },
): Promise<StoredValue | undefined> {
  const changed = await changedPreview(installation, record)
  if (changed?.stored.hash === seen) return changed?.stored
  if (verdict !== 'approve') return undefined
  throw new Problem(
    'approval_changed',
    `What ${stepOf(question)} acts on is no longer as it was when you looked; look at the question again and decide on what is there now.`,
    { approval: record.id },
  )
}
