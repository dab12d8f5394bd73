/** Answers given once are given again; rows replay as they were written. */
import { expect, it } from 'vitest'
import { sha256 } from '@/lib/base/hash'
import { mintUuid } from '@/lib/base/ids'
import { refusal } from '../refusal-of'
import type { Store } from '../store'
import { aRun, firstCommit } from '../story'

export function remembering(store: () => Store): void {
  const answer = {
    scope: 'person:ada',
    key: 'k-1',
    requestHash: sha256('one'),
    status: 201,
    body: '{"id":1}',
  }

  it('keeps the answer with the commit, and has it for the same request', async () => {
    await store().ledger.commit(firstCommit(aRun(), { answer }))
    expect(await store().ledger.answer('person:ada', 'k-1')).toEqual(answer)
    expect(await store().ledger.answer('person:bob', 'k-1')).toBeUndefined()
  })

  it('does not do the same request twice, and says that it is the same', async () => {
    await store().ledger.commit(firstCommit(aRun(), { answer }))
    const again = aRun()
    const work = store().ledger.commit(firstCommit(again, { answer }))
    const problem = await refusal(work, 'idempotency_key_reused')
    expect(problem.data.sameRequest).toBe(true)
    expect(problem.message).toBe(
      'The request with the idempotency key "k-1" was answered already; ask for that answer',
    )
    expect(await store().ledger.header(again.runId)).toBeUndefined()
  })

  it('refuses the key for another request', async () => {
    await store().ledger.commit(firstCommit(aRun(), { answer }))
    const other = { ...answer, requestHash: sha256('two') }
    const work = store().ledger.commit(firstCommit(aRun(), { answer: other }))
    const problem = await refusal(work, 'idempotency_key_reused')
    expect(problem.data.sameRequest).toBe(false)
    expect(problem.message).toBe(
      'The idempotency key "k-1" was used for another request; use a fresh key for a new request',
    )
  })

  it('does the request of two racing writers once', async () => {
    const outcomes = await Promise.allSettled(
      [aRun(), aRun(), aRun()].map((run) => store().ledger.commit(firstCommit(run, { answer }))),
    )
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1)
    expect(await store().runs.count({})).toBe(1)
  })

  it('knows a token id from outside the second time, until it may be forgotten', async () => {
    const jti = mintUuid()
    const seen = await Promise.all([1, 2, 3].map(() => store().ledger.rememberJti(jti, 5_000)))
    expect(seen.filter(Boolean)).toHaveLength(1)
    expect(await store().ledger.rememberJti(jti, 9_000)).toBe(false)
    expect(await store().forget(4_999)).toBe(0)
    expect(await store().ledger.rememberJti(jti, 9_000)).toBe(false)
    expect(await store().forget(5_001)).toBe(1)
    expect(await store().ledger.rememberJti(jti, 9_000)).toBe(true)
  })
}
