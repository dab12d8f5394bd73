/** Lists of approvals. */
import { expect, it } from 'vitest'
import { refusal } from '../refusal-of'
import type { Store } from '../store'
import { anApproval, aRun, firstCommit, nextCommit } from '../story'

export function listingApprovals(store: () => Store): void {
  const ids = (items: { id: string }[]) => items.map((approval) => approval.id)

  it('puts the nearest deadline first, then the longest wait', async () => {
    const approvals = [
      anApproval('appr_1', { askedAt: 30 }),
      anApproval('appr_2', { askedAt: 50, deadlineAt: 900 }),
      anApproval('appr_3', { askedAt: 10 }),
      anApproval('appr_4', { askedAt: 60, deadlineAt: 500 }),
      anApproval('appr_5', { askedAt: 40, deadlineAt: 900, role: 'operator:oncall' }),
      anApproval('appr_6', { askedAt: 10 }),
    ]
    const run = aRun()
    await store().ledger.commit(firstCommit(run, { approvals }))
    const order = ['appr_4', 'appr_5', 'appr_2', 'appr_3', 'appr_6', 'appr_1']
    expect(ids((await store().approvals.open({}, { limit: 10 })).items)).toEqual(order)
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await store().approvals.open({}, { limit: 1, cursor })
      seen.push(...ids(page.items))
      cursor = page.next
    } while (cursor)
    expect(seen).toEqual(order)
    const mine = await store().approvals.open({ roles: ['operator:oncall'] }, { limit: 10 })
    expect(ids(mine.items)).toEqual(['appr_5'])
    expect((await store().approvals.open({ roles: [] }, { limit: 10 })).items).toEqual([])
    expect(await store().approvals.openByRole()).toEqual([
      { role: 'operator', open: 5 },
      { role: 'operator:oncall', open: 1 },
    ])
    expect(ids(await store().approvals.ofRun(run.runId))).toEqual([
      ...['appr_3', 'appr_6', 'appr_1', 'appr_5', 'appr_2', 'appr_4'],
    ])
  })

  it('moves a decided one to the closed, with who and when', async () => {
    const run = aRun()
    await store().ledger.commit(firstCommit(run, { approvals: [anApproval('appr_1'), anApproval('appr_2')] }))
    const decided = anApproval('appr_1', {
      state: 'decided',
      verdict: 'approve',
      by: 'person:bob',
      decidedAt: 2_000,
    })
    await store().ledger.commit(nextCommit(run, 1, 1, { approvals: [decided] }))
    const shown = { ...decided, runId: run.runId, workflowName: 'deploy', runStartedBy: 'person:ada' }
    expect(await store().approvals.get('appr_1')).toEqual(shown)
    expect(await store().approvals.closed({ runId: run.runId }, { limit: 5 })).toEqual({ items: [shown] })
    expect(ids((await store().approvals.open({}, { limit: 5 })).items)).toEqual(['appr_2'])
    expect(await store().approvals.get('appr_9')).toBeUndefined()
  })

  it('does not let one run change another’s approval', async () => {
    const [mine, other] = [aRun(), aRun()]
    await store().ledger.commit(firstCommit(mine, { approvals: [anApproval('appr_1')] }))
    const forged = anApproval('appr_1', { state: 'void' })
    await store().ledger.commit(firstCommit(other, { approvals: [forged] }))
    expect(await store().approvals.get('appr_1')).toMatchObject({ state: 'open', runId: mine.runId })
  })

  it('refuses a broken cursor', async () => {
    const work = store().approvals.open({}, { limit: 5, cursor: 'x' })
    expect((await refusal(work, 'cursor_invalid')).message).toContain('"x" was not given out by this list')
  })
}
