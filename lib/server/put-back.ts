/*
 * What "put it back all the same" would undo, shown to whoever may say so and to nobody else: it holds what the checkpoint
 * sealed. It is made for one answer, in memory; neither that nor any refusal is kept or logged with contents.
 */
import type { Principal } from '@/lib/auth/principal'
import type { RunId } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import type { Approval } from '@/lib/engine/run'
import { refusalOf } from '@/lib/hitl/decide-rules'
import type { PutBack } from '@/lib/rollback/terms'
import type { ApprovalRecord } from '@/lib/store/store'
import type { PutBackView } from '@/lib/view/rollback-wire'
import { putBackOf } from '@/lib/worker/put-back'
import { labelOf } from '@/lib/workflow/graph-index'
import type { Installation } from './installation'
import { openedReadOnly } from './opened'
import { noteAbout } from './question-about'

/**
 * Of one of the changed targets that a question is about. Throws the Problems of `refusalOf` for who may not answer it so,
 * those of `putBackOf`, and `too_many_requests`.
 */
export async function putBackAsked(
  installation: Installation,
  record: ApprovalRecord,
  principal: Principal,
  checkpoint: string,
): Promise<PutBackView> {
  const noted = await installation.book.read(record.runId, (run) => {
    const approval = run.approvals.get(record.id as Approval['id'])
    const label = approval && labelOf(run.graph, approval.node)
    return approval && { question: { ...structuredClone(approval), label }, about: noteAbout(run, approval) }
  })
  if (!noted) throw new Problem('not_found', `No approval is known as "${record.id}"`)
  const { question, about } = noted
  const refusal = refusalOf(question, principal, {
    verdict: 'overwrite',
    action: question.action,
    edited: false,
  })
  if (refusal) throw refusal
  const asked = about?.what === 'rollback' ? about.about.cannot : []
  if (!asked.some((one) => one.checkpoint === checkpoint)) {
    throw new Problem(
      'not_found',
      `This question names no checkpoint "${checkpoint.slice(0, 60)}" whose target was changed since`,
    )
  }
  return shown(installation, principal, () => putBackOf(installation.ports, record.runId, checkpoint))
}

/**
 * Of a step whose target a plan says was changed since. Throws the Problems of `putBackOf`, of which `rollback_nothing` also
 * where nobody else changed it, and `too_many_requests`.
 */
export async function putBackPlanned(
  installation: Installation,
  runId: RunId,
  principal: Principal,
  checkpoint: string,
): Promise<PutBackView> {
  return shown(installation, principal, () => putBackOf(installation.ports, runId, checkpoint, true))
}

async function shown(
  { opened, looks, ports }: Installation,
  principal: Principal,
  look: () => Promise<PutBack>,
): Promise<PutBackView> {
  if (opened) throw openedReadOnly(opened)
  await looks.spend(principal)
  const putBack = await look()
  return { ...putBack, at: ports.timer.now() }
}
