/** Questions to people: rows of the inbox, the decision card, and the one way to decide. */
import { actorOf, type Principal } from '@/lib/auth/principal'
import type { Hash } from '@/lib/base/hash'
import { isJsonObject, type JsonObject } from '@/lib/base/json'
import { isProblem, Problem } from '@/lib/base/problem'
import type { ActionRef } from '@/lib/engine/commands'
import type { IdempotentAnswer } from '@/lib/engine/ports'
import type { Approval, Run } from '@/lib/engine/run'
import { mayDecide, refusalOf } from '@/lib/hitl/decide-rules'
import { silenceWords } from '@/lib/hitl/silence'
import type { Verdict } from '@/lib/hitl/terms'
import { isEditable, verdictsOf } from '@/lib/hitl/verdicts'
import { type Action, EffectFailed, type Preview } from '@/lib/runners/runner'
import { previewText } from '@/lib/runners/words'
import type { ApprovalRecord } from '@/lib/store/store'
import type { ApprovalCard, ApprovalRow, EventChoice, EventSlot } from '@/lib/view/approval-wire'
import { consequenceOf } from '@/lib/view/frame'
import { mayOverwrite, type RollbackWarning, warningOf } from '@/lib/view/warning'
import { readJson } from '@/lib/worker/run-book'
import { jsonValue } from '@/lib/worker/values'
import { labelOf, withDescendants } from '@/lib/workflow/graph-index'
import { eventChoices, eventSlots, eventTerms, shownChoices, slotValues } from './events'
import type { Installation } from './installation'
import { describedAgain, stillSeen } from './look-again'
import { openedReadOnly } from './opened'
import { aboutOf, type NotedAbout, noteAbout } from './question-about'

/** An inbox row for this person. */
export async function approvalRowOf(
  installation: Installation,
  record: ApprovalRecord,
  principal: Principal,
): Promise<ApprovalRow> {
  const graph = await installation.store.ledger
    .header(record.runId)
    .then((header) => installation.graphOf(header?.version ?? ''))
  const label = labelOf(graph, record.node)
  const question = { ...record, label, state: questionState(record) }
  const { opened } = installation
  const may = opened
    ? { may: false as const, because: openedReadOnly(opened).message }
    : mayDecide(question, principal)
  const warning = record.state === 'open' ? await warningAbout(installation, record) : undefined
  return {
    id: record.id,
    run: record.runId,
    workflow: record.workflowName,
    node: record.node,
    label,
    visit: record.visit,
    kind: record.kind,
    role: record.role,
    sentence: record.sentence,
    consequence: record.consequence,
    ...(warning && { warning }),
    askedAt: record.askedAt,
    deadlineAt: record.deadlineAt ?? undefined,
    state: record.state,
    verdict: record.verdict as Verdict | undefined,
    by: record.by,
    decidedAt: record.decidedAt,
    mayDecide: may.may,
    mayNotBecause: may.may ? undefined : may.because,
  }
}

/** What stands in the way of a rollback changes as those that said no are asked again, so it is read from the run. */
async function warningAbout(
  installation: Installation,
  { id, kind, runId }: ApprovalRecord,
): Promise<RollbackWarning | undefined> {
  if (kind !== 'rollback_unprepared') return undefined
  const noted = await installation.book.read(runId, (run) => {
    const approval = run.approvals.get(id as Approval['id'])
    return approval && noteAbout(run, approval)
  })
  const about = await aboutOf(installation, { id: id as Approval['id'] }, noted)
  return about?.what === 'rollback' ? warningOf(about) : undefined
}

function questionState(record: ApprovalRecord): Parameters<typeof mayDecide>[0]['state'] {
  const at = record.decidedAt ?? 0
  if (record.state === 'void') return { status: 'void', at }
  if (record.state === 'open') return { status: 'open' }
  return { status: 'decided', verdict: (record.verdict ?? 'refuse') as Verdict, by: record.by ?? '', at }
}

/** The inbox row's record. Throws Problem `not_found`. */
export async function approvalRecord(installation: Installation, id: string): Promise<ApprovalRecord> {
  const record = await installation.store.approvals.get(id)
  if (!record) throw new Problem('not_found', `No approval is known as "${id.slice(0, 60)}"`)
  return record
}

/** The decision card: what will happen, whether it can be undone, what it touches, why it asks. */
export async function approvalCardOf(
  installation: Installation,
  record: ApprovalRecord,
  principal: Principal,
): Promise<ApprovalCard> {
  const row = await approvalRowOf(installation, record, principal)
  const noted = await installation.book.read(record.runId, (run) => noteApproval(run, record.id))
  const { approval } = noted
  const { ledger } = installation.store
  const action = (await readJson(ledger, approval.action)) as Action | JsonObject | undefined
  const preview =
    approval.preview && ((await readJson(ledger, approval.preview)) as unknown as Preview | undefined)
  const known = isAction(action) ? action : undefined
  const { state } = approval
  const seen =
    state.status === 'decided' && state.seen
      ? ((await readJson(ledger, state.seen)) as unknown as Preview | undefined)
      : undefined
  const about = await aboutOf(installation, approval, noted.about)
  return {
    ...row,
    reason: approval.reason,
    failure: noted.failure,
    action: approval.action,
    target: approval.target,
    preview: preview || undefined,
    ...(noted.did && (await didOf(installation, noted.did))),
    stepKind: known?.kind,
    editable: isEditable(approval.kind) && known && Object.keys(known.do).length > 0 ? known.do : undefined,
    undo: known?.undo && { method: known.undo, sentence: known.undoSentence ?? '' },
    touches: noted.touches,
    ...(about && { about }),
    runStartedBy: noted.startedBy,
    runStartedAt: noted.startedAt,
    onSilence: silenceWords(approval),
    comments: approval.comments,
    verdicts: verdictsOf(approval.kind).filter((verdict) => verdict !== 'overwrite' || mayOverwrite(about)),
    ...(approval.kind === 'event' && {
      events: await shownChoices(installation, record.runId, noted.events),
      slots: noted.slots,
    }),
    decision:
      state.status === 'decided'
        ? {
            verdict: state.verdict,
            ...(state.event !== undefined && { event: state.event }),
            by: state.by,
            at: state.at,
            comment: state.comment,
            edited: state.edited !== undefined,
            ...(seen && { seen }),
          }
        : undefined,
  }
}

/** What a step that stays done did: as it was shown before, and otherwise its action in its own words. */
async function didOf(
  { store: { ledger } }: Installation,
  { action, preview }: Done,
): Promise<Pick<ApprovalCard, 'did'> | undefined> {
  const shown = preview && ((await readJson(ledger, preview)) as unknown as Preview | undefined)
  if (shown) return { did: { action, preview: shown } }
  const known = (await readJson(ledger, action)) as unknown
  if (!isAction(known)) return undefined
  const text = previewText(JSON.stringify(known.do, null, 2))
  return { did: { action, preview: { show: 'text', title: known.sentence, text } } }
}

function isAction(value: unknown): value is Action {
  return isJsonObject(value) && isJsonObject(value.do) && typeof value.kind === 'string'
}

/** The action of a step that was done, and the preview that it was approved on, where it was. */
interface Done {
  action: Hash
  preview?: Hash
}

interface NotedApproval {
  approval: Approval
  did: Done | undefined
  failure: string | undefined
  touches: ApprovalCard['touches']
  about: NotedAbout | undefined
  events: EventChoice[]
  slots: EventSlot[]
  startedBy: string
  startedAt: number
}

function noteApproval(run: Run, id: string): NotedApproval {
  const approval = run.approvals.get(id as Approval['id'])
  if (!approval) throw new Problem('not_found', `This run has no approval "${id.slice(0, 60)}"`)
  const nodes = withDescendants(run.graph, approval.node).map((node) => run.graph.nodes.get(node))
  const agents = new Set<string>()
  for (const node of nodes) {
    const agent = node?.config.agent
    if (node?.kind === 'agent' && typeof agent === 'string') agents.add(agent.split('/').at(-1) ?? agent)
  }
  const later = nodes
    .filter((node) => node !== undefined)
    .filter((node) => node.id !== approval.node)
    .slice(0, 20)
    .map((node) => ({
      node: node.id,
      label: node.label,
      irreversible: node.reversible === false,
      consequence: consequenceOf(node),
    }))
  return {
    approval: structuredClone(approval),
    did: doneOf(run, approval),
    failure: failureOf(run, approval),
    touches: { agents: [...agents], later },
    about: noteAbout(run, approval),
    events: eventChoices(run, approval.node),
    slots: eventSlots(run, approval.node),
    startedBy: run.start?.by ?? '',
    startedAt: run.start?.at ?? 0,
  }
}

function doneOf(run: Run, { kind, node, visit }: Approval): Done | undefined {
  const then = run.visits.get(node)
  if (kind !== 'rollback_escalated' || then?.visit !== visit || !then.action) return undefined
  const { action } = then
  const asked = [...run.approvals.values()].find(
    (one) => one.node === node && one.visit === visit && one.action === action && one.preview !== undefined,
  )
  const preview = asked?.state.status === 'decided' ? (asked.state.seen ?? asked.preview) : asked?.preview
  return { action, ...(preview && { preview }) }
}

function failureOf(run: Run, approval: Approval): string | undefined {
  const visit = run.visits.get(approval.node)
  if (visit?.visit !== approval.visit) return undefined
  const { state } = visit
  return state.status === 'failed' || state.status === 'escalated' ? state.error?.description : undefined
}

export interface DecisionWish {
  verdict: Verdict
  action: string
  comment: string
  edited?: JsonObject
  /** Hash of what they saw in place of the question's own preview (look-again.ts). */
  seen?: string
  /** With the verdict `event`: which one, and values for artifacts that its state may write. */
  event?: string
  artifacts?: JsonObject
  answer?: () => IdempotentAnswer
}

/**
 * Decides an approval as this principal; the same conditions hold on every path. Throws the Problems of `refusalOf`,
 * `approval_edit_refused` when an edited action is not one the step could do, and `approval_changed` when what the person
 * saw is no longer so.
 */
export async function decideApproval(
  installation: Installation,
  record: ApprovalRecord,
  principal: Principal,
  wish: DecisionWish,
): Promise<void> {
  const question = await installation.book.read(record.runId, (run) => {
    const approval = run.approvals.get(record.id as Approval['id'])
    const label = approval && labelOf(run.graph, approval.node)
    return approval && { ...structuredClone(approval), label, ...eventTerms(run, approval.node) }
  })
  if (!question) throw new Problem('not_found', `No approval is known as "${record.id}"`)
  const { event, artifacts = {} } = wish
  const refusal = refusalOf(question, principal, {
    verdict: wish.verdict,
    action: wish.action,
    edited: wish.edited !== undefined,
    artifacts: Object.keys(artifacts),
    ...(event !== undefined && { event }),
  })
  if (refusal) throw refusal
  const written = slotValues(question.declared, artifacts)
  const edited = wish.edited && (await revised(installation, record, question, wish.edited))
  const seen = await stillSeen(installation, record, question, wish)
  await installation.book.execute(
    record.runId,
    {
      type: 'decide',
      approval: question.id,
      verdict: wish.verdict,
      by: actorOf(principal),
      action: wish.action,
      edited: edited?.ref,
      seen: seen?.hash,
      event,
      ...(written.refs.length > 0 && { artifacts: written.refs }),
      comment: wish.comment,
    },
    {
      values: [...(edited ? [jsonValue(edited.action)] : []), ...(seen ? [seen] : []), ...written.values],
      answer: wish.answer,
    },
  )
}

/** The action as the person edited it: checked and described by the same code that made the first one. */
async function revised(
  installation: Installation,
  record: ApprovalRecord,
  question: Approval,
  edited: JsonObject,
) {
  const before = (await readJson(installation.ports.ledger, question.action)) as unknown
  if (!isAction(before))
    throw new Problem('approval_edit_refused', 'This question has no action that can be edited')
  try {
    const described = await describedAgain(installation, record.runId, question, edited, 10_000)
    if (!described) throw new Problem('approval_edit_refused', `${question.node} cannot be edited`)
    const { action } = described
    const { consequence, target, sentence } = action
    const ref: ActionRef = {
      hash: jsonValue(action).hash,
      consequence,
      target,
      sentence,
      reads: question.reads,
    }
    return { action, ref }
  } catch (error) {
    if (!(error instanceof EffectFailed) && !isProblem(error)) throw error
    if (isProblem(error, 'approval_edit_refused')) throw error
    throw new Problem('approval_edit_refused', `The edited action cannot be done: ${error.message}`)
  }
}
