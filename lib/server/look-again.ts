/*
 * An open question, looked at again. Its preview was made when it was asked, and is the evidence that its token names: it
 * stays. What the step acts on may have changed meanwhile. So whoever opens the question has the step described again, by
 * the code that described it first and that only reads:
 *
 *   asked   describe ─▶ preview, in the question's token
 *   opened  describe ─▶ the same difference: nothing to say
 *                    ─▶ another one: what changed and the new one are shown, with the hash to decide on
 *   decided describe ─▶ what the person saw, still: where that is not what was asked, the token names it (`hp.seen`)
 *                    ─▶ another one: refused, to be looked at again
 *                    ─▶ no answer: refused where the person saw a change, since nobody can tell; a refusal asks nobody
 *
 * A file and an agent show what they would change. Of the other kinds there is nothing to compare. Where describing fails
 * or takes too long nothing is claimed but that.
 */
import type { Principal } from '@/lib/auth/principal'
import { isJsonObject, type JsonObject } from '@/lib/base/json'
import { partyName } from '@/lib/base/party-name'
import { isProblem, Problem } from '@/lib/base/problem'
import type { StoredValue } from '@/lib/engine/ports'
import type { Approval, Run } from '@/lib/engine/run'
import { stepOf } from '@/lib/hitl/decide-rules'
import type { Verdict } from '@/lib/hitl/terms'
import { type Action, EffectFailed, type Preview } from '@/lib/runners/runner'
import type { ApprovalRecord } from '@/lib/store/store'
import type { ApprovalNow, SilentTarget } from '@/lib/view/approval-wire'
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

/**
 * What the step would do by now; without `changed` where that is what was asked. People who open the question at the same
 * time share the look. Throws Problem `too_many_requests`.
 */
export async function lookAgain(
  installation: Installation,
  record: ApprovalRecord,
  who: Principal,
): Promise<ApprovalNow> {
  const asked = await askedOf(installation, record)
  const timer = installation.ports.timer
  if (!asked) return { at: timer.now() }
  return installation.looks.shared(who, record.id, async (): Promise<ApprovalNow> => {
    const look = await lookAt(installation, record, asked)
    const at = timer.now()
    if (look.told === 'same') return { at }
    if (look.told === 'silent') return { at, silent: look.silent }
    const { preview, stored, undo } = look
    return { at, changed: { preview, seen: stored.hash, ...(undo !== undefined && { undo }) } }
  })
}

/** What a look came to: nobody can tell where whoever was asked is silent. */
type Look = { told: 'same' } | Changed | Silent

interface Changed {
  told: 'changed'
  preview: Preview
  stored: StoredValue
  /** How it would be undone, one sentence. */
  undo: string | undefined
}

interface Silent {
  told: 'silent'
  silent: SilentTarget
  /** The agent that was asked, by its id. */
  agent?: string
}

/** A question whose step can be described again and compared. */
interface Asked {
  question: Approval
  preview: Diff
  action: { kind?: unknown; target?: unknown; do: JsonObject }
}

async function askedOf(
  { opened, store: { ledger }, book }: Installation,
  { id, runId, kind, state }: ApprovalRecord,
): Promise<Asked | undefined> {
  // A bundle is looked at far from what its steps acted on.
  if (opened || kind !== 'approval' || state !== 'open') return undefined
  const question = await book.read(runId, (run) => {
    const approval = run.approvals.get(id as Approval['id'])
    return approval && structuredClone(approval)
  })
  if (!question?.preview) return undefined
  const preview = await readJson(ledger, question.preview)
  const action = await readJson(ledger, question.action)
  if (!isDiff(preview) || !isJsonObject(action) || !isJsonObject(action.do)) return undefined
  return { question, preview, action: { ...action, do: action.do } }
}

async function lookAt(
  installation: Installation,
  { runId }: ApprovalRecord,
  { question, preview: asked, action }: Asked,
): Promise<Look> {
  try {
    const said = await describedAgain(installation, runId, question, action.do, lookMs)
    const preview = said?.preview
    if (preview?.show !== 'diff' || isSame(asked, preview)) return { told: 'same' }
    return { told: 'changed', preview, stored: jsonValue(preview), undo: said?.action.undoSentence }
  } catch (error) {
    if (!(error instanceof EffectFailed) && !isProblem(error)) throw error
    const { agent } = action.do
    const why = error.message
    return action.kind === 'agent' && typeof agent === 'string'
      ? { told: 'silent', agent, silent: { what: 'agent', name: partyName(agent), why } }
      : { told: 'silent', silent: { what: 'target', name: question.target, why } }
  }
}

/** "the agent dns-steering gave no answer to go by (…)" */
function silentWords({ what, name, why }: SilentTarget): string {
  const reason = `(${why.replace(/\.$/, '')})`
  return what === 'agent'
    ? `the agent ${name} gave no answer to go by ${reason}`
    : `${name} could not be looked at ${reason}`
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
 * What the person says they saw in place of what `question` asked, to be kept with the decision. Whoever refuses is never
 * held up. Where the step would act on it, throws Problem `approval_changed` when it is no longer as the person saw it, and
 * `target_silent` when nobody can tell whether it is; of what was asked and never seen otherwise, the card said so already.
 */
export async function stillSeen(
  installation: Installation,
  record: ApprovalRecord,
  question: Parameters<typeof stepOf>[0],
  { verdict, seen }: { verdict: Verdict; seen?: string },
): Promise<StoredValue | undefined> {
  if (verdict !== 'approve' && seen === undefined) return undefined
  const asked = await askedOf(installation, record)
  const look: Look = asked ? await lookAt(installation, record, asked) : { told: 'same' }
  if (look.told === 'changed' && look.stored.hash === seen) return look.stored
  if (verdict !== 'approve') return undefined
  if (seen === undefined && look.told !== 'changed') return undefined
  if (look.told === 'silent') {
    throw new Problem(
      'target_silent',
      `What ${stepOf(question)} would do was asked once more, and ${silentWords(look.silent)}; nobody can tell whether it is still as you saw it. Approve once there is an answer again, or refuse now: a refusal asks nobody.`,
      { approval: record.id, ...(look.agent !== undefined && { agent: look.agent }) },
    )
  }
  throw new Problem(
    'approval_changed',
    `What ${stepOf(question)} acts on is no longer as it was when you looked; look at the question again and decide on what is there now.`,
    { approval: record.id },
  )
}
