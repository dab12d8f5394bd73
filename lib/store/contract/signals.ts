/** Signals wait until they are taken. */
import { expect, it } from 'vitest'
import type { NewSignal } from '@/lib/engine/signal-ports'
import { refusal } from '../refusal-of'
import type { Store } from '../store'
import { aRun, firstCommit, nextCommit } from '../story'

export function signalling(store: () => Store): void {
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
