/** Values and checkpoints. */
import { expect, it } from 'vitest'
import { sha256 } from '@/lib/base/hash'
import { mintUuid } from '@/lib/base/ids'
import { refusal } from '../refusal-of'
import type { Store } from '../store'
import { aRun, firstCommit } from '../story'
import { bytes } from './rows'

export function keeping(store: () => Store): void {
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
