import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { memoryStore } from './memory'
import { openStore } from './open'
import type { Store } from './store'

const agent = 'spiffe://example.com/agent/a'

describe.each(['memory', 'sqlite'] as const)('how often somebody does something, in %s', (kind) => {
  let folder: string
  /** Two processes on one store, where there is one to share. */
  let stores: Store[]
  beforeEach(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdpoint-rates-'))
    stores =
      kind === 'memory' ? [memoryStore({ now: () => 0 })] : [await openStore(folder), await openStore(folder)]
  })
  afterEach(async () => {
    for (const store of stores) await store.close()
    fs.rmSync(folder, { recursive: true })
  })
  /** By each process in its turn. */
  const take = (at: number, now: number, perMinute = 60) =>
    (stores[at % stores.length] as Store).rates.take(agent, 'requests', perMinute, now)

  it('gives a minute’s worth at once and no more, to all processes together', async () => {
    const waits = await Promise.all(Array.from({ length: 100 }, (_, at) => take(at, 5_000)))
    expect(waits.filter((wait) => wait === 0)).toHaveLength(60)
    expect(new Set(waits.filter((wait) => wait > 0))).toEqual(new Set([1_000]))
  })

  it('gives them back evenly, and keeps no more than a minute’s', async () => {
    for (let at = 0; at < 60; at++) expect(await take(at, 0)).toBe(0)
    expect(await take(0, 600)).toBe(400)
    expect(await take(1, 1_000)).toBe(0)
    expect(await take(0, 1_000)).toBe(1_000)
    for (let at = 0; at < 60; at++) expect(await take(at, 10_000_000)).toBe(0)
    expect(await take(1, 10_000_000)).toBe(1_000)
  })

  it('misses next time what was owed', async () => {
    expect(await take(0, 0)).toBe(0)
    await (stores[0] as Store).rates.owe(agent, 'requests', 89)
    expect(await take(1, 30_000)).toBe(1_000)
    expect(await take(1, 31_000)).toBe(0)
  })

  it('brings nothing back to a clock that was set back, and is told of each thing apart', async () => {
    expect(await take(0, 60_000, 1)).toBe(0)
    expect(await take(1, 0, 1)).toBe(60_000)
    expect(await take(0, 119_000, 1)).toBe(1_000)
    const [store] = stores as [Store]
    expect(await store.rates.take(agent, 'runs', 1, 60_000)).toBe(0)
    expect(await store.rates.take('spiffe://example.com/agent/b', 'requests', 1, 60_000)).toBe(0)
  })
})
