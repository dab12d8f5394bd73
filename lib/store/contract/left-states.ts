/** The states that steps left, found by what they are. */
import { expect, it } from 'vitest'
import { type Hash, sha256 } from '@/lib/base/hash'
import type { LeftState } from '@/lib/engine/ports'
import { refusal } from '../refusal-of'
import type { Store } from '../store'
import { aRun, firstCommit, nextCommit, type TestRun } from '../story'

export function leaving(store: () => Store): void {
  const holder = 'spiffe://example.com/agent/dns'
  const state = sha256('S1') as Hash
  const left = (run: TestRun, at: number, more: Partial<LeftState> = {}): LeftState => ({
    ...{
      holder,
      state,
      runId: run.runId,
      node: 'steer',
      visit: 1,
      label: 'Steer',
      at,
      undid: false,
      ...more,
    },
  })
  const started = async (...leftStates: LeftState[]) => {
    const run = aRun()
    const own = leftStates.map((one) => ({ ...one, runId: run.runId }))
    await store().ledger.commit(firstCommit(run))
    await store().ledger.commit(nextCommit(run, 1, 1, { leftStates: own }))
    return run
  }
  const target = { holder, state }

  it('are told with the run that left one last, none but those asked about', async () => {
    expect(await store().ledger.leftBy(target, 0, [])).toBeUndefined()
    const any = aRun()
    const first = await started(left(any, 1_000))
    const later = await started(left(any, 3_000, { visit: 2 }), left(any, 2_000))
    await started(left(any, 9_000, { state: sha256('S2') }), left(any, 9_000, { holder: 'here' }))
    const told = { ...left(later, 3_000, { visit: 2 }), workflowName: 'deploy' }
    expect(await store().ledger.leftBy(target, 0, [])).toEqual(told)
    expect(await store().ledger.leftBy(target, 3_000, [])).toEqual(told)
    expect(await store().ledger.leftBy(target, 3_001, [])).toBeUndefined()
    expect((await store().ledger.leftBy(target, 0, [later.runId]))?.runId).toBe(first.runId)
    expect(await store().ledger.leftBy(target, 0, [later.runId, first.runId])).toBeUndefined()
  })

  it('are also those that a rollback left', async () => {
    const run = await started(left(aRun(), 1_000), left(aRun(), 2_000, { undid: true }))
    expect(await store().ledger.leftBy(target, 0, [])).toMatchObject({
      runId: run.runId,
      at: 2_000,
      undid: true,
    })
  })

  it('are forgotten once no checkpoint can be older', async () => {
    await started(left(aRun(), 1_000))
    const yearMs = 366 * 86_400_000
    expect(await store().forget(yearMs + 1_000)).toBe(0)
    expect(await store().forget(yearMs + 1_001)).toBe(1)
    expect(await store().ledger.leftBy(target, 0, [])).toBeUndefined()
  })

  it('go with the commit, or not at all', async () => {
    const run = await started()
    const stale = nextCommit(run, 1, 1, { leftStates: [left(run, 1_000)] })
    await refusal(store().ledger.commit(stale), 'sequence_taken')
    expect(await store().ledger.leftBy(target, 0, [])).toBeUndefined()
  })
}
