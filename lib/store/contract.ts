import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Hash, sha256 } from '@/lib/base/hash'
import { mintUuid, type RunId } from '@/lib/base/ids'
import { isProblem, type Problem, type ProblemCode } from '@/lib/base/problem'
import type { LeftState, RunHeader, RunProjection, StoredRow } from '@/lib/engine/ports'
import type { NewSignal } from '@/lib/engine/signal-ports'
import { keepingCircuits } from './contract-circuits'
import type { AppendEvent, Store } from './store'
import { anApproval, aRow, aRun, firstCommit, nextCommit, running, type TestRun } from './story'

/*
 * What every store promises the engine, as a suite: run on SQLite with real files, in memory, and on whatever comes.
 */
/** The Problem that a promise is refused with. */
export async function refusal(work: Promise<unknown>, code: ProblemCode): Promise<Problem> {
  try {
    await work
  } catch (error) {
    if (isProblem(error, code)) return error
    throw error
  }
  throw new Error(`Expected the refusal ${code}; it went through`)
}

const bytes = (text: string) => new TextEncoder().encode(text)

async function everything(store: Store): Promise<StoredRow[]> {
  return store.ledger.since(0, 1_000_000)
}

/** Declares the suite for one kind of store. `open` gives a fresh, empty one. */
export function storeContract(name: string, open: () => Promise<Store>): void {
  describe(`a store (${name})`, () => {
    let store: Store
    beforeEach(async () => {
      store = await open()
    })
    afterEach(() => store.close())

    describe('appends', () => appending(() => store))
    describe('answers and replays', () => remembering(() => store))
    describe('values and checkpoints', () => keeping(() => store))
    describe('states that steps left', () => leaving(() => store))
    describe('tells of appends', () => telling(() => store))
    describe('keeps signals', () => signalling(() => store))
    describe('leases', () => leasing(() => store))
    describe('lists runs', () => listingRuns(() => store))
    describe('lists approvals', () => listingApprovals(() => store))
    describe('keeps workflows', () => keepingWorkflows(() => store))
    describe('keeps circuits', () => keepingCircuits(() => store))
  })
}

function appending(store: () => Store): void {
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

function leaving(store: () => Store): void {
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

function remembering(store: () => Store): void {
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

function keeping(store: () => Store): void {
  it('keeps a value once, by its hash', async () => {
    const value = { hash: sha256('{"a":1}'), mediaType: 'application/json', bytes: bytes('{"a":1}') }
    await store().ledger.putValue(value)
    await store().ledger.putValue({ ...value, mediaType: 'text/plain' })
    await store().ledger.commit(firstCommit(aRun(), { values: [value, value] }))
    expect(await store().ledger.value(value.hash)).toEqual(value)
    expect(await store().ledger.value(sha256('other'))).toBeUndefined()
  })

  it('keeps an empty value and all 256 bytes', async () => {
    const all = Uint8Array.from({ length: 256 }, (_, index) => index)
    const empty = { hash: sha256(''), mediaType: 'application/octet-stream', bytes: new Uint8Array() }
    await store().ledger.putValue(empty)
    await store().ledger.putValue({ ...empty, hash: sha256(all), bytes: all })
    expect(await store().ledger.value(empty.hash)).toEqual(empty)
    expect((await store().ledger.value(sha256(all)))?.bytes).toEqual(all)
  })

  it('refuses a value past the bound', async () => {
    const huge = { hash: sha256('x'), mediaType: 'text/plain', bytes: new Uint8Array(64 * 1024 * 1024 + 1) }
    const problem = await refusal(store().ledger.putValue(huge), 'too_large')
    expect(problem.message).toBe(
      'The value has 67108865 bytes and the store takes at most 67108864; keep it outside and store a reference',
    )
    await refusal(store().ledger.commit(firstCommit(aRun(), { values: [huge] })), 'too_large')
  })

  it('puts states sealed anew in place, and none that changed meanwhile', async () => {
    const run = aRun()
    const point = (jti: string, keyId: string) => ({
      ...{ jti, runId: run.runId, node: 'apply', visit: 1, keyId },
      sealed: bytes(`sealed under ${keyId}`),
      expiresAt: 2_000,
    })
    const held = [point('a', 'k1'), point('b', 'k2'), point('c', 'k1')]
    await store().ledger.commit(firstCommit(run, { checkpoints: held }))
    const { checkpoints, ledger } = store()
    expect((await checkpoints.notUnder('k2', '', 10)).map(({ jti }) => jti)).toEqual(['a', 'c'])
    expect((await checkpoints.notUnder('k2', 'a', 10)).map(({ jti }) => jti)).toEqual(['c'])
    const resealed = [
      { before: 'k1', sealed: point('a', 'k2') },
      { before: 'k9', sealed: point('c', 'k2') },
    ]
    expect(await checkpoints.replace(resealed)).toBe(1)
    expect(await ledger.checkpoint('a')).toEqual(point('a', 'k2'))
    expect(await ledger.checkpoint('c')).toEqual(point('c', 'k1'))
  })

  it('deletes sealed states past their time, and no others', async () => {
    const run = aRun()
    const sealed = (expiresAt: number) => ({
      jti: mintUuid(),
      runId: run.runId,
      node: 'apply',
      visit: 1,
      keyId: 'k1',
      sealed: bytes('sealed'),
      expiresAt,
    })
    const [old, fresh] = [sealed(2_000), sealed(3_000)]
    await store().ledger.commit(firstCommit(run, { checkpoints: [old, fresh] }))
    expect(await store().ledger.checkpoint(old.jti)).toEqual(old)
    const { checkpoints } = store()
    expect(await checkpoints.expired(2_000, 10)).toEqual([])
    expect(await checkpoints.expired(2_001, 10)).toEqual([{ jti: old.jti, runId: run.runId }])
    expect(await checkpoints.drop([old.jti, 'none'])).toBe(1)
    expect(await store().ledger.checkpoint(old.jti)).toBeUndefined()
    expect(await store().ledger.checkpoint(fresh.jti)).toEqual(fresh)
  })
}

function signalling(store: () => Store): void {
  const signal = (name: string, createdAt: number): NewSignal => ({
    id: `error ${name}`,
    errorJti: 'error',
    agent: `spiffe://example.com/${name}`,
    body: '{}',
    createdAt,
  })

  it('with the commit of their error, or not at all', async () => {
    const run = aRun()
    await store().ledger.commit(firstCommit(run, { signals: [signal('b', 1_000), signal('a', 1_000)] }))
    await refusal(
      store().ledger.commit(nextCommit(run, 5, 1, { signals: [signal('c', 1_000)] })),
      'sequence_taken',
    )
    const kept = await store().signals.ofRun(run.runId)
    expect(kept.map(({ id }) => id)).toEqual(['error a', 'error b'])
    expect(kept[0]).toEqual({
      ...signal('a', 1_000),
      runId: run.runId,
      attempts: 0,
      nextAt: 1_000,
      state: 'waiting',
      answer: '',
    })
    // The same signal is the same row.
    await store().ledger.commit(nextCommit(run, 1, 1, { signals: [signal('a', 2_000)] }))
    expect(await store().signals.ofRun(run.runId)).toEqual(kept)
  })

  it('and gives each out for one try at a time', async () => {
    const run = aRun()
    const { signals, ledger } = store()
    expect(await signals.nextDue()).toBeUndefined()
    await ledger.commit(firstCommit(run, { signals: [signal('a', 1_000), signal('b', 3_000)] }))
    expect(await signals.nextDue()).toBe(1_000)
    expect(await signals.take(999, 10, 5_000)).toEqual([])
    expect(await signals.take(1_000, 10, 5_000)).toMatchObject([
      { id: 'error a', attempts: 1, nextAt: 5_000, state: 'waiting' },
    ])
    expect(await signals.take(1_000, 10, 5_000)).toEqual([])
    await signals.tell('error a', { state: 'told', nextAt: null, answer: 'Answered 202' })
    expect(await signals.nextDue()).toBe(3_000)
    expect((await signals.take(9_000, 10, 99_000)).map(({ id }) => id)).toEqual(['error b'])
    expect(await signals.ofRun(run.runId)).toMatchObject([
      { state: 'told', attempts: 1, nextAt: null, answer: 'Answered 202' },
      { state: 'waiting', attempts: 1, nextAt: 99_000 },
    ])
  })
}

function telling(store: () => Store): void {
  it('tells of each appended row once, in order, after it is there', async () => {
    const told: AppendEvent[] = []
    const stop = store().onAppend((event) => told.push(event))
    const runs = [aRun(), aRun(), aRun()]
    await Promise.all(runs.map((run) => store().ledger.commit(firstCommit(run))))
    await Promise.allSettled([
      store().ledger.commit(nextCommit(runs[0] as TestRun, 1, 2)),
      store().ledger.commit(nextCommit(runs[1] as TestRun, 5, 2)),
      store().ledger.commit(nextCommit(runs[2] as TestRun, 1, 0)),
      store().ledger.commit(nextCommit(runs[2] as TestRun, 1, 1)),
    ])
    expect(told.flatMap((event) => event.positions)).toEqual([1, 2, 3, 4, 5, 6])
    expect(told.slice(3)).toEqual([
      { runId: runs[0]?.runId, positions: [4, 5] },
      { runId: runs[2]?.runId, positions: [6] },
    ])
    stop()
    await store().ledger.commit(nextCommit(runs[0] as TestRun, 3, 1))
    expect(told).toHaveLength(5)
  })

  it('tells a listener only of what comes after it', async () => {
    await store().ledger.commit(firstCommit(aRun()))
    const told: number[] = []
    store().onAppend((event) => told.push(...event.positions))
    await store().ledger.commit(firstCommit(aRun()))
    expect(told).toEqual([2])
  })
}

function leasing(store: () => Store): void {
  const due = async (dueAt: number | null): Promise<TestRun> => {
    const run = aRun()
    await store().ledger.commit(firstCommit(run, { projection: { ...running, dueAt } }))
    return run
  }

  it('hands out the longest due first, each once', async () => {
    const runs = [await due(300), await due(100), await due(null), await due(200), await due(900)]
    const ids = (leases: { runId: RunId }[]) => leases.map((lease) => lease.runId)
    expect(ids(await store().leases.claimDue('a', 2, 500, 30_000))).toEqual([runs[1]?.runId, runs[3]?.runId])
    expect(ids(await store().leases.claimDue('b', 2, 500, 30_000))).toEqual([runs[0]?.runId])
    expect(await store().leases.claimDue('c', 2, 500, 30_000)).toEqual([])
    expect(await store().leases.nextDue('z', 500)).toBe(900)
  })

  it('shares the due runs among workers that ask at once', async () => {
    const runs = await Promise.all(Array.from({ length: 30 }, () => due(1)))
    const claims = await Promise.all(
      ['a', 'b', 'c', 'd'].map((owner) => store().leases.claimDue(owner, 10, 5, 1_000)),
    )
    const claimed = claims.flat().map((lease) => lease.runId)
    expect(claimed.sort()).toEqual(runs.map((run) => run.runId).sort())
  })

  it('gives a silent holder’s run to another under a new epoch, and refuses the old one’s commit', async () => {
    const run = await due(100)
    const [old] = await store().leases.claimDue('a', 1, 100, 1_000)
    expect(await store().leases.nextDue('z', 200)).toBe(1_100)
    expect(await store().leases.claim('b', run.runId, 1_099, 1_000)).toBeUndefined()
    const fresh = await store().leases.claim('b', run.runId, 1_100, 1_000)
    expect(fresh).toEqual({ runId: run.runId, owner: 'b', epoch: (old?.epoch ?? 0) + 1 })
    const problem = await refusal(store().ledger.commit(nextCommit(run, 1, 1, { lease: old })), 'lease_lost')
    expect(problem.message).toBe(
      `a no longer holds the lease on ${run.runId} of epoch 1: b holds it under epoch 2; its work is dropped`,
    )
    await store().ledger.commit(nextCommit(run, 1, 1, { lease: fresh }))
    expect(await store().leases.heartbeat(old ? [old] : [], 1_200, 1_000)).toEqual([])
  })

  it('lets nobody begin a run under a lease on another run that is over', async () => {
    const above = await due(100)
    const [old] = await store().leases.claimDue('a', 1, 100, 1_000)
    const fresh = await store().leases.claim('b', above.runId, 1_100, 1_000)
    const child = aRun()
    const problem = await refusal(store().ledger.commit(firstCommit(child, { lease: old })), 'lease_lost')
    expect(problem.message).toContain(`a no longer holds the lease on ${above.runId} of epoch 1`)
    expect(await store().ledger.header(child.runId)).toBeUndefined()
    await store().ledger.commit(firstCommit(child, { lease: fresh }))
    await refusal(store().ledger.commit(firstCommit(child, { lease: fresh })), 'sequence_taken')
  })

  it('does not let a worker back in under an epoch that is over', async () => {
    const run = await due(100)
    const first = await store().leases.claim('a', run.runId, 100, 1_000)
    await store().leases.release(first as NonNullable<typeof first>)
    const problem = await refusal(
      store().ledger.commit(nextCommit(run, 1, 1, { lease: first })),
      'lease_lost',
    )
    expect(problem.message).toContain('nobody holds it')
    const second = await store().leases.claim('a', run.runId, 100, 1_000)
    expect(second?.epoch).toBe(2)
    await refusal(store().ledger.commit(nextCommit(run, 1, 1, { lease: first })), 'lease_lost')
    await store().leases.release(first as NonNullable<typeof first>)
    await store().ledger.commit(nextCommit(run, 1, 1, { lease: second }))
  })

  it('lets go at once of what a dead holder had, and of nothing else', async () => {
    const [its, anothers] = [await due(100), await due(100)]
    const lost = await store().leases.claim('a', its.runId, 100, 1_000)
    await store().leases.claim('b', anothers.runId, 100, 1_000)
    await store().leases.releaseAllOf('a')
    expect(await store().leases.claim('c', its.runId, 101, 1_000)).toMatchObject({ epoch: 2 })
    expect(await store().leases.claim('c', anothers.runId, 101, 1_000)).toBeUndefined()
    await refusal(store().ledger.commit(nextCommit(its, 1, 1, { lease: lost })), 'lease_lost')
  })

  it('passes a run over that is kept for another, until that one is silent for too long', async () => {
    const run = aRun()
    const keptFor = { owner: 'a', until: 1_000 }
    const create = { ...firstCommit(run).create, keptFor } as RunHeader
    await store().ledger.commit(firstCommit(run, { create, projection: { ...running, dueAt: 100 } }))
    const { leases, ledger } = store()
    expect((await ledger.header(run.runId))?.keptFor).toEqual(keptFor)
    expect(await leases.claimDue('b', 1, 999, 1_000)).toEqual([])
    expect(await leases.claim('b', run.runId, 999, 1_000)).toBeUndefined()
    expect([await leases.nextDue('b', 500), await leases.nextDue('a', 500)]).toEqual([1_000, 100])
    const [own] = await leases.claimDue('a', 1, 200, 1_500)
    expect(await leases.nextDue('b', 500)).toBe(1_700)
    await leases.release(own as NonNullable<typeof own>)
    await leases.keepOn('a', 3_000)
    expect(await leases.claimDue('b', 1, 2_999, 1_000)).toEqual([])
    expect(await leases.claimDue('b', 1, 3_000, 1_000)).toHaveLength(1)
    // Whoever woke too late gets nothing back by saying so.
    await leases.keepOn('a', 9_000)
    expect((await ledger.header(run.runId))?.keptFor).toBeUndefined()
    expect(await leases.claim('c', run.runId, 4_000, 1_000)).toMatchObject({ epoch: 3 })
  })

  it('keeps nothing any more for an owner that stops, or is known to be dead', async () => {
    const { leases } = store()
    const runs = [await due(100), await due(100), await due(100)] as const
    await leases.keep('a', runs[0].runId, 0, 9_000)
    await leases.keep('b', runs[1].runId, 0, 9_000)
    await leases.keep('c', runs[2].runId, 0, 9_000)
    await leases.keepNothing('a')
    await leases.releaseAllOf('b')
    const claimed = (await leases.claimDue('d', 9, 100, 1_000)).map(({ runId }) => runId)
    expect(claimed.sort()).toEqual([runs[0].runId, runs[1].runId].sort())
  })

  it('keeps a run with all that its steps began, and takes nothing from another that keeps it', async () => {
    const { leases, ledger } = store()
    const [above, taken] = [await due(100), await due(100)]
    const [child, grandchild] = [aRun(), aRun()]
    for (const [run, { runId }] of [
      [child, above],
      [grandchild, child],
    ] as const) {
      const create = { ...firstCommit(run).create, parent: { runId, node: 'a', visit: 1, index: 0 } }
      await ledger.commit(firstCommit(run, { create: create as RunHeader }))
    }
    await leases.keep('a', above.runId, 0, 1_000)
    for (const { runId } of [above, child, grandchild]) {
      expect((await ledger.header(runId))?.keptFor).toEqual({ owner: 'a', until: 1_000 })
    }
    expect((await ledger.header(taken.runId))?.keptFor).toBeUndefined()
    await leases.keep('b', child.runId, 999, 1_000)
    expect((await ledger.header(child.runId))?.keptFor).toEqual({ owner: 'a', until: 1_000 })
    await leases.keep('b', child.runId, 1_000, 1_000)
    expect((await ledger.header(grandchild.runId))?.keptFor).toEqual({ owner: 'b', until: 2_000 })
    expect((await ledger.header(above.runId))?.keptFor?.owner).toBe('a')
  })

  it('prolongs by heartbeat', async () => {
    const run = await due(100)
    const lease = await store().leases.claim('a', run.runId, 100, 1_000)
    const held = lease ? [lease] : []
    expect(await store().leases.heartbeat(held, 900, 1_000)).toEqual(held)
    expect(await store().leases.claimDue('b', 1, 1_500, 1_000)).toEqual([])
    expect(await store().leases.claimDue('b', 1, 1_900, 1_000)).toHaveLength(1)
  })

  it('lets a person’s command through while a worker holds the run', async () => {
    const run = await due(100)
    const lease = await store().leases.claim('a', run.runId, 100, 1_000)
    await store().ledger.commit(nextCommit(run, 1, 1))
    const late = store().ledger.commit(nextCommit(run, 1, 1, { lease }))
    expect((await refusal(late, 'sequence_taken')).data).toMatchObject({ foundSeq: 2 })
    await store().ledger.commit(nextCommit(run, 2, 1, { lease }))
    expect((await store().runs.get(run.runId))?.lease).toEqual({ owner: 'a', epoch: 1, until: 1_100 })
  })

  it('has nothing to wait for when no run is due', async () => {
    await due(null)
    expect(await store().leases.nextDue('z', 0)).toBeUndefined()
  })
}

function listingRuns(store: () => Store): void {
  const start = async (startedAt: number, more: Partial<RunProjection> = {}, workflowName = 'deploy') => {
    const run = aRun()
    const commit = firstCommit(run, { projection: { ...running, startedAt, ...more } })
    await store().ledger.commit({ ...commit, create: commit.create && { ...commit.create, workflowName } })
    return run.runId
  }
  const ids = (items: { runId: RunId }[]) => items.map((run) => run.runId)

  it('shows a run as the last commit left it', async () => {
    const run = aRun()
    await store().ledger.commit(firstCommit(run))
    const projection: RunProjection = {
      ...running,
      status: 'ended',
      terminal: 'success',
      endedAt: 1_700_000_000_000,
      updatedAt: 1_700_000_000_000,
      doneCount: 3,
      dueAt: null,
    }
    await store().ledger.commit(nextCommit(run, 1, 2, { projection }))
    const { create } = firstCommit(run)
    expect(await store().runs.get(run.runId)).toEqual({ ...create, ...projection, seq: 3 })
    expect(await store().runs.get(aRun().runId)).toBeUndefined()
  })

  it('keeps when a run started as its first commit said, and how many nodes it has as its last one does', async () => {
    const run = aRun()
    await store().ledger.commit(firstCommit(run))
    const projection = { ...running, startedAt: 9_999, nodeCount: 99, doneCount: 1 }
    await store().ledger.commit(nextCommit(run, 1, 1, { projection }))
    expect(await store().runs.get(run.runId)).toMatchObject({ startedAt: 1_000, nodeCount: 99, doneCount: 1 })
  })

  it('knows the runs that a step began, apart from those of other steps and visits, and how they stand', async () => {
    const above = aRun()
    await store().ledger.commit(firstCommit(above))
    const below = async (
      node: string,
      visit: number,
      index: number,
      projection: Partial<RunProjection> = {},
    ) => {
      const run = aRun()
      const first = firstCommit(run)
      await store().ledger.commit({
        ...first,
        create: { ...first.create, parent: { runId: above.runId, node, visit, index } } as RunHeader,
        projection: { ...running, ...projection },
      })
      return run.runId
    }
    const asking = await below('each', 1, 0, { status: 'waiting', openApprovals: 1 })
    const failed = await below('each', 1, 1, { status: 'ended', terminal: 'failed', endedAt: 2_000 })
    const second = await below('each', 2, 0)
    const list = async (filter: Parameters<Store['runs']['list']>[0]) =>
      ids((await store().runs.list(filter, { limit: 10 })).items).toSorted()
    const parent = above.runId
    expect(await list({ parent })).toEqual([asking, failed, second].toSorted())
    expect(await list({ parent, parentStep: { node: 'each', visit: 1 } })).toEqual(
      [asking, failed].toSorted(),
    )
    expect(await list({ parents: [parent], asking: true })).toEqual([asking])
    expect(await list({ parents: [] })).toEqual([])
    const counts = await store().runs.childCounts(parent)
    expect(counts).toHaveLength(3)
    expect(counts).toContainEqual({ node: 'each', visit: 1, n: 1, status: 'ended', terminal: 'failed' })
    expect(counts).toContainEqual({ node: 'each', visit: 1, n: 1, status: 'waiting' })
    expect(counts).toContainEqual({ node: 'each', visit: 2, n: 1, status: 'running' })
    expect(await store().runs.childCounts(second)).toEqual([])
  })

  it('knows the runs that were forked from others', async () => {
    const original = aRun()
    await store().ledger.commit(firstCommit(original))
    const forked = async (forkOf: RunId) => {
      const run = aRun()
      const first = firstCommit(run)
      await store().ledger.commit({ ...first, create: { ...first.create, forkOf } as RunHeader })
      return run.runId
    }
    const fork = await forked(original.runId)
    const ofFork = await forked(fork)
    expect((await store().ledger.header(fork))?.forkOf).toBe(original.runId)
    expect((await store().runs.get(ofFork))?.forkOf).toBe(fork)
    expect(await store().runs.get(original.runId)).not.toHaveProperty('forkOf')
    const of = async (forksOf: RunId[]) =>
      ids((await store().runs.list({ forksOf }, { limit: 10 })).items).toSorted()
    expect(await of([original.runId])).toEqual([fork])
    expect(await of([original.runId, fork])).toEqual([fork, ofFork].toSorted())
    expect(await of([])).toEqual([])
  })

  it('narrows by every filter', async () => {
    const old = await start(1_000, { status: 'ended', terminal: 'failed', endedAt: 2_000 })
    const stuck = await start(2_000, { failedCount: 1 })
    const waiting = await start(3_000, { status: 'waiting', openApprovals: 1 }, 'Rotate_keys')
    const list = async (filter: Parameters<Store['runs']['list']>[0]) =>
      ids((await store().runs.list(filter, { limit: 10 })).items)
    expect(await list({})).toEqual([waiting, stuck, old])
    expect(await list({ status: ['ended', 'waiting'] })).toEqual([waiting, old])
    expect(await list({ status: [] })).toEqual([])
    expect(await list({ terminal: ['failed'] })).toEqual([old])
    expect(await list({ workflow: 'Rotate_keys' })).toEqual([waiting])
    expect(await list({ text: 'rotate' })).toEqual([waiting])
    expect(await list({ text: stuck.slice(10, 30) })).toEqual([stuck])
    expect(await list({ text: 'r%_keys' })).toEqual([waiting])
    expect(await list({ text: 'rotate.keys' })).toEqual([])
    expect(await list({ text: 'e_k' })).toEqual([waiting])
    expect(await list({ startedBy: 'person:ada', since: 2_000, until: 3_000 })).toEqual([stuck])
    expect(await list({ failing: true })).toEqual([stuck, old])
    expect(await list({ parent: 'none' })).toEqual([waiting, stuck, old])
    expect(await list({ parent: old })).toEqual([])
    expect(await list({ failing: false })).toEqual([waiting])
    expect(await list({ version: sha256('none') })).toEqual([])
    expect(await store().runs.count({ failing: true })).toBe(2)
    expect(await store().runs.counts(1_500)).toEqual({
      byStatus: {
        running: 1,
        waiting: 1,
        paused: 0,
        cancelling: 0,
        rolling_back: 0,
        rolled_back: 0,
        ended: 1,
      },
      failing: 2,
      endedSince: 1,
    })
    expect(await store().runs.counts(2_001)).toMatchObject({ failing: 2, endedSince: 0 })
    await start(4_000, { status: 'ended', terminal: 'rolled_back', failedCount: 1, endedAt: 5_000 })
    expect(await store().runs.count({ failing: true })).toBe(2)
  })

  it('tells what somebody cancelled, and what came to a limit, from what failed', async () => {
    const failed = await start(1_000, { status: 'ended', terminal: 'failed', endedAt: 2_000 })
    const cancelled = await start(2_000, {
      status: 'ended',
      terminal: 'failed',
      stopped: 'cancelled',
      failedCount: 1,
      endedAt: 3_000,
    })
    const exhausted = await start(3_000, {
      status: 'ended',
      terminal: 'failed',
      stopped: 'exhausted',
      endedAt: 4_000,
    })
    const flagged = await start(3_500, {
      status: 'ended',
      terminal: 'success',
      stopped: 'flagged',
      failedCount: 1,
      endedAt: 4_500,
    })
    const well = await start(3_700, { status: 'ended', terminal: 'success', endedAt: 4_600 })
    const list = async (filter: Parameters<Store['runs']['list']>[0]) =>
      ids((await store().runs.list(filter, { limit: 10 })).items)
    expect(await list({ terminal: ['success'], stopped: 'none' })).toEqual([well])
    expect(await list({ stopped: 'flagged' })).toEqual([flagged])
    expect((await store().runs.get(exhausted))?.stopped).toBe('exhausted')
    expect((await store().runs.get(cancelled))?.stopped).toBe('cancelled')
    expect(await list({ terminal: ['failed'] })).toEqual([exhausted, cancelled, failed])
    expect(await list({ terminal: ['failed'], stopped: 'none' })).toEqual([failed])
    expect(await list({ stopped: 'cancelled' })).toEqual([cancelled])
    expect(await list({ stopped: 'exhausted' })).toEqual([exhausted])
    expect(await list({ failing: true })).toEqual([flagged, failed])
    expect(await list({ failing: false })).toEqual([well, exhausted, cancelled])
    expect((await store().runs.counts(0)).failing).toBe(2)
  })

  it('pages without a miss or a double while runs are being started', async () => {
    const before: RunId[] = []
    for (let index = 0; index < 25; index++) before.push(await start(1_000 + (index % 5)))
    const seen: RunId[] = []
    let cursor: string | undefined
    do {
      const page = await store().runs.list({ text: 'deploy' }, { limit: 4, cursor })
      seen.push(...ids(page.items))
      cursor = page.next
      await start(5_000)
    } while (cursor)
    expect(seen).toHaveLength(25)
    expect([...seen].sort()).toEqual([...before].sort())
  })

  it('refuses a cursor that it did not give out', async () => {
    const foreign = Buffer.from('["open",null,1,"a"]').toString('base64url')
    for (const cursor of ['', 'nonsense', foreign, Buffer.from('["runs",1.5,"a"]').toString('base64url')]) {
      const problem = await refusal(store().runs.list({}, { limit: 5, cursor }), 'cursor_invalid')
      expect(problem.message).toBe(
        `The cursor "${cursor}" was not given out by this list; start again without a cursor`,
      )
    }
    for (const limit of [0, 501, 1.5, Number.NaN]) {
      await refusal(store().runs.list({}, { limit }), 'bad_request')
    }
  })
}

function listingApprovals(store: () => Store): void {
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

function keepingWorkflows(store: () => Store): void {
  const version = (name: string, text: string, importedAt: number) => ({
    version: sha256(text) as Hash,
    name,
    description: `does ${name}`,
    format: 'atd',
    source: text,
    mediaType: 'application/atd-workflow+json',
    importedAt,
    importedBy: 'person:ada',
    nodeCount: 2,
  })

  it('keeps each version once, byte for byte', async () => {
    const record = version('deploy', '{"é": "\u0000\u{1F600}"}\r\n', 1_700_000_000_000)
    expect(await store().workflows.put(record)).toBe(true)
    expect(await store().workflows.put({ ...record, importedAt: 1_800_000_000_000 })).toBe(false)
    expect(await store().workflows.get(record.version)).toEqual(record)
    expect(await store().workflows.get(sha256('none'))).toBeUndefined()
  })

  it('knows the newest version of each name', async () => {
    const records = [
      version('deploy', 'd1', 1),
      version('audit', 'a1', 2),
      version('deploy', 'd2', 3),
      version('deploy', 'd3', 3),
    ]
    for (const record of records) await store().workflows.put(record)
    const newest = sha256('d2') > sha256('d3') ? records[2] : records[3]
    expect(await store().workflows.latest()).toEqual([records[1], newest])
    expect((await store().workflows.versions('deploy')).map((record) => record.importedAt)).toEqual([3, 3, 1])
    const summaries = await store().workflows.summaries()
    expect(summaries.map(({ name, versions }) => [name, versions])).toEqual([
      ['audit', 1],
      ['deploy', 3],
    ])
    expect(summaries[0]).not.toHaveProperty('source')
  })
}
