/** What a store promises of appends: all or nothing, one order, fenced. */
import { expect, it } from 'vitest'
import { sha256 } from '@/lib/base/hash'
import { mintUuid } from '@/lib/base/ids'
import { refusal } from '../refusal-of'
import type { Store } from '../store'
import { aRow, aRun, firstCommit, nextCommit, type TestRun } from '../story'
import { bytes, everything } from './rows'

export function appending(store: () => Store): void {
  it('gives back what was appended, in order', async () => {
    const run = aRun()
    const first = firstCommit(run)
    const second = nextCommit(run, 1, 3, { heads: [{ seq: 4, jws: 'h.e.ad' }] })
    await store().ledger.commit(first)
    await store().ledger.commit(second)
    const rows = await store().ledger.rows(run.runId, 0, 100)
    expect(rows.map(({ position: _, ...row }) => row)).toEqual([...first.rows, ...second.rows])
    expect((await store().ledger.rows(run.runId, 2, 1)).map((row) => row.seq)).toEqual([3])
    expect(await store().ledger.heads(run.runId)).toEqual([{ seq: 4, jws: 'h.e.ad' }])
    expect(await store().ledger.header(run.runId)).toEqual(first.create)
  })

  it('lets exactly one of many writers at the same place through', async () => {
    const run = aRun()
    await store().ledger.commit(firstCommit(run))
    const rivals = Array.from({ length: 20 }, () => nextCommit(run, 1, 2))
    const outcomes = await Promise.allSettled(rivals.map((commit) => store().ledger.commit(commit)))
    const lost = outcomes.filter((outcome) => outcome.status === 'rejected')
    expect(lost).toHaveLength(19)
    for (const { reason } of lost) {
      expect(reason).toMatchObject({ code: 'sequence_taken', data: { expectedSeq: 1, foundSeq: 3 } })
      expect(reason.message).toBe(
        `${run.runId} has 3 tokens and the commit was decided at 1; fold the new ones and decide again`,
      )
    }
    const winner = rivals[outcomes.findIndex((outcome) => outcome.status === 'fulfilled')]
    const rows = await store().ledger.rows(run.runId, 1, 100)
    expect(rows.map((row) => row.jti)).toEqual(winner?.rows.map((row) => row.jti))
  })

  it('refuses one commit of a group alone, and leaves nothing of it', async () => {
    const [stale, fine, twice] = [aRun(), aRun(), aRun()]
    await Promise.all([stale, fine, twice].map((run) => store().ledger.commit(firstCommit(run))))
    const value = { hash: sha256('never'), mediaType: 'text/plain', bytes: bytes('never') }
    const jti = mintUuid()
    const repeated = { rows: [aRow(twice.runId, 2, jti), aRow(twice.runId, 3, jti)], values: [value] }
    const outcomes = await Promise.allSettled([
      store().ledger.commit(nextCommit(fine, 1, 2)),
      store().ledger.commit(nextCommit(stale, 7, 2, { values: [value] })),
      store().ledger.commit(nextCommit(twice, 1, 0, repeated)),
      store().ledger.commit(nextCommit(fine, 3, 2)),
    ])
    expect(outcomes.map((outcome) => outcome.status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
    ])
    expect(outcomes[2]).toMatchObject({ reason: { code: 'ect_duplicate_jti', data: { jti } } })
    expect(await store().ledger.value(value.hash)).toBeUndefined()
    expect(await store().ledger.rows(stale.runId, 1, 10)).toEqual([])
    expect(await store().ledger.rows(twice.runId, 1, 10)).toEqual([])
    expect((await store().runs.get(twice.runId))?.seq).toBe(1)
    expect((await everything(store())).map((row) => row.position)).toEqual([1, 2, 3, 4, 5, 6, 7])
  })

  it('refuses a token id that the run has, and says which', async () => {
    const run = aRun()
    const first = firstCommit(run)
    await store().ledger.commit(first)
    const jti = first.rows[0]?.jti ?? ''
    const rows = [aRow(run.runId, 2), aRow(run.runId, 3, jti)]
    const problem = await refusal(store().ledger.commit(nextCommit(run, 1, 0, { rows })), 'ect_duplicate_jti')
    expect(problem.message).toBe(`${run.runId} has a token ${jti} already; a token id serves once in a run`)
  })

  it('starts a run once', async () => {
    const run = aRun()
    await store().ledger.commit(firstCommit(run))
    const problem = await refusal(store().ledger.commit(firstCommit(run)), 'sequence_taken')
    expect(problem.message).toBe(`${run.runId} was already started; its first commit came from elsewhere`)
  })

  it('refuses a commit to a run it does not have', async () => {
    const run = aRun()
    const problem = await refusal(store().ledger.commit(nextCommit(run, 1, 1)), 'not_found')
    expect(problem.message).toBe(`There is no run ${run.runId} in this store`)
    expect(await store().ledger.header(run.runId)).toBeUndefined()
  })

  it('does not take a commit whose rows leave a gap', async () => {
    const run = aRun()
    await store().ledger.commit(firstCommit(run))
    const rows = [aRow(run.runId, 3)]
    await expect(store().ledger.commit(nextCommit(run, 1, 0, { rows }))).rejects.toThrow(
      `Row 0 of a commit to ${run.runId} at 1 is ${run.runId} number 3; expected number 2`,
    )
  })

  it('numbers all rows of an installation without a gap, and resumes exactly', async () => {
    const runs = Array.from({ length: 7 }, aRun)
    await Promise.all(runs.map((run) => store().ledger.commit(firstCommit(run))))
    for (let seq = 1; seq < 9; seq += 2) {
      const commits = runs.map((run) => store().ledger.commit(nextCommit(run, seq, 2)))
      commits.push(store().ledger.commit(nextCommit(runs[0] as TestRun, 99, 1)))
      await Promise.allSettled(commits)
    }
    const all = await everything(store())
    expect(all.map((row) => row.position)).toEqual(Array.from({ length: 63 }, (_, index) => index + 1))
    expect(await store().ledger.lastPosition()).toBe(63)
    for (const cut of [0, 1, 30, 62, 63, 64]) {
      expect(await store().ledger.since(cut, 1_000)).toEqual(all.slice(cut))
      expect(await store().ledger.since(cut, 2)).toEqual(all.slice(cut, cut + 2))
      for (const { runId } of runs) {
        const own = all.filter((row) => row.runId === runId && row.position > cut)
        expect(await store().ledger.since(cut, 1_000, runId)).toEqual(own)
      }
    }
    expect(await store().ledger.since(0, 10, aRun().runId)).toEqual([])
  })
}
