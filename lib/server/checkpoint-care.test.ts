/** What becomes of sealed states: caps and rates when they are made, other keys while they live, a token when they go. */
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { widOf } from '@/lib/base/ids'
import { isProblem } from '@/lib/base/problem'
import { rotateKeyCommand } from '@/lib/cli/rotate-key-command'
import { unverifiedPayload } from '@/lib/ect/jws'
import { verifyLedgerNode } from '@/lib/ect/ledger-verify-node'
import { openStore } from '@/lib/store/open'
import { aRun, firstCommit, nextCommit } from '@/lib/store/story'
import { getCascadeCheckpoint, postPrepare } from './handlers/cascade'
import { checkpointLimitsInEnv } from './limits-in-env'
import { purgeExpired } from './purge'
import { resealCheckpoints } from './reseal'
import { DoorsScene, knock } from './testing/doors-scene'

let scene: DoorsScene
beforeAll(async () => {
  scene = await DoorsScene.open()
})
afterAll(() => scene.close())
afterEach(() => vi.restoreAllMocks())

const sealed = (runId: `run_${string}`, jti: string, expiresAt = Date.now() + 60_000) => ({
  jti,
  runId,
  node: 'apply',
  visit: 1,
  keyId: 'k1',
  sealed: new TextEncoder().encode('sealed'),
  expiresAt,
})

describe('a checkpoint past its time', () => {
  it('is destroyed once a token says so, and answered as expired', async () => {
    const { runId, checkpoint } = await scene.written('before\n')
    const { house } = scene
    const { timer } = house.ports
    const later = { ...timer, now: () => timer.now() + 86_400_001 }
    const tomorrow = { store: house.store, book: house.book, ports: { ...house.ports, timer: later } }
    expect(await purgeExpired(house)).toBe(0)
    expect(await purgeExpired(tomorrow)).toBeGreaterThanOrEqual(1)
    expect(await house.store.ledger.checkpoint(checkpoint)).toBeUndefined()
    expect(await house.book.read(runId, (run) => run.checkpoints.get(checkpoint)?.purged)).toBe(true)

    const rows = await house.store.ledger.rows(runId, 0, 1000)
    const heads = await house.store.ledger.heads(runId)
    expect(await verifyLedgerNode({ wid: widOf(runId), rows, heads, keys: house.keys.keys })).toMatchObject({
      holds: true,
    })

    const shown = await knock(getCascadeCheckpoint, {
      path: `/.well-known/cascade/checkpoints/${checkpoint}`,
      token: scene.a.token('hp:look', runId),
      params: { id: checkpoint },
    })
    expect(shown.body.verification).toMatchObject({ signature_valid: true, out_hash_matches: false })
    const vote = await knock(postPrepare, {
      path: '/.well-known/cascade/rollback/prepare',
      token: scene.a.token('rollback_start', runId),
      body: { rollback_id: 'urn:uuid:0a0a0a0a-2222-4222-8222-bbbbbbbbbbbb', checkpoint_id: checkpoint },
    })
    expect(vote.body).toMatchObject({ status: 'cannot_prepare', reason: 'expired' })
  })

  it('is told of once, when a crash came between the token and the end of the state', async () => {
    const { runId, checkpoint } = await scene.written()
    const { house } = scene
    const { timer } = house.ports
    const later = { ...timer, now: () => timer.now() + 86_400_001 }
    const ports = { ...house.ports, timer: later }
    const cut = {
      ...house.store,
      checkpoints: { ...house.store.checkpoints, drop: async () => Promise.reject(new Error('cut')) },
    }
    await expect(purgeExpired({ store: cut, book: house.book, ports })).rejects.toThrow('cut')
    expect(await house.store.ledger.checkpoint(checkpoint)).toBeDefined()
    expect(await purgeExpired({ store: house.store, book: house.book, ports })).toBe(1)
    expect(await house.store.ledger.checkpoint(checkpoint)).toBeUndefined()
    const acts = (await house.store.ledger.rows(runId, 0, 100)).map(
      ({ token }) => unverifiedPayload(token).exec_act,
    )
    expect(acts.filter((act) => act === 'hp:checkpoint_purged')).toHaveLength(1)
  })
})

describe('checkpoints of one workflow', () => {
  async function refusalOf(work: Promise<unknown>): Promise<{ code: string; words: string }> {
    try {
      await work
    } catch (error) {
      if (isProblem(error)) return { code: error.code, words: error.message }
      throw error
    }
    throw new Error('It was accepted')
  }

  it('are refused past the cap and past the rate, with how to mend it, and nothing is written', async () => {
    let now = 1_000_000
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdpoint-limits-'))
    const store = await openStore(folder, {
      clock: { now: () => now },
      checkpointLimits: { live: 4, perMinute: 3 },
    })
    const [one, two] = [aRun(), aRun()]
    const at = (runId: `run_${string}`, ...jtis: string[]) => ({
      checkpoints: jtis.map((jti) => sealed(runId, jti)),
    })
    await store.ledger.commit(firstCommit(one, at(one.runId, 'a', 'b')))
    await store.ledger.commit(firstCommit(two, at(two.runId, 'c')))
    const rate = await refusalOf(store.ledger.commit(nextCommit(one, 1, 1, at(one.runId, 'd'))))
    expect(rate.code).toBe('checkpoint_limit')
    expect(rate.words).toBe(
      'The workflow "deploy" took 3 checkpoints within a minute, the most it may; look for a loop, slow it down, or raise HOLDPOINT_CHECKPOINTS_PER_MINUTE',
    )
    expect(await store.ledger.rows(one.runId, 0, 10)).toHaveLength(1)
    now += 60_001
    await store.ledger.commit(nextCommit(one, 1, 1, at(one.runId, 'd')))
    const cap = await refusalOf(store.ledger.commit(nextCommit(one, 2, 1, at(one.runId, 'e'))))
    expect(cap.code).toBe('checkpoint_limit')
    expect(cap.words).toContain('has 4 live checkpoints, the most it may have; wait until some expire')
    await store.checkpoints.drop(['a'])
    await store.ledger.commit(nextCommit(one, 2, 1, at(one.runId, 'e')))
    // A commit without a checkpoint is nobody's flood.
    await store.ledger.commit(nextCommit(one, 3, 1))
    await store.close()
    fs.rmSync(folder, { recursive: true })
  })

  it('have the bounds that the environment names', () => {
    expect(checkpointLimitsInEnv({})).toEqual({ live: 10_000, perMinute: 600 })
    expect(checkpointLimitsInEnv({ HOLDPOINT_CHECKPOINTS_PER_MINUTE: '5' }).perMinute).toBe(5)
    expect(() => checkpointLimitsInEnv({ HOLDPOINT_MAX_CHECKPOINTS: 'many' })).toThrow(
      'HOLDPOINT_MAX_CHECKPOINTS is "many"; a whole number from 1 was expected',
    )
  })
})

describe('a new sealing key', () => {
  it('opens what former keys sealed, and what another process sealed anew', async () => {
    const { checkpoint } = await scene.written('before\n')
    const { house, console: at } = scene
    const before = await house.store.ledger.checkpoint(checkpoint)
    const say = vi.spyOn(console, 'log').mockImplementation(() => undefined)
    expect(await rotateKeyCommand({ data: at.folder, sealing: true, reseal: true })).toBe(0)
    expect(say.mock.calls.flat().join(' ')).toMatch(/\d+ checkpoints are sealed anew with/)
    const after = await house.store.ledger.checkpoint(checkpoint)
    expect(after?.keyId).not.toBe(before?.keyId)
    expect(after?.sealed).not.toEqual(before?.sealed)
    // This process has not read its keys since.
    expect(house.ports.vault.open(after as NonNullable<typeof after>)).toEqual(
      house.ports.vault.open(before as NonNullable<typeof before>),
    )
  })

  it('goes on where it was cut short, and names what does not open', async () => {
    const { house } = scene
    await scene.written('before\n')
    house.keys.rotateSealing(Date.now())
    const { checkpoints } = house.store
    const left = async () => (await checkpoints.notUnder(house.keys.sealing.current.keyId, '', 1000)).length
    const all = await left()
    expect(all).toBeGreaterThan(0)
    const cut = { ...checkpoints, replace: () => Promise.reject(new Error('cut')) }
    await expect(resealCheckpoints(cut, house.keys.sealing, randomBytes)).rejects.toThrow('cut')
    expect(await left()).toBe(all)
    expect(await resealCheckpoints(checkpoints, house.keys.sealing, randomBytes)).toEqual({
      resealed: all,
      unopened: [],
    })
    expect(await left()).toBe(0)
    const ring = {
      ...house.keys.sealing,
      find: () => undefined,
      current: { keyId: 'other', key: house.keys.sealing.current.key },
    }
    const lost = await resealCheckpoints(checkpoints, ring, randomBytes)
    expect(lost).toMatchObject({ resealed: 0, unopened: { length: all } })
  })
})

describe('a step of a workflow that may seal no more', () => {
  it('fails before it does anything, and says how to mend it', async () => {
    vi.stubEnv('HOLDPOINT_MAX_CHECKPOINTS', '1')
    const full = await DoorsScene.open()
    vi.unstubAllEnvs()
    try {
      await full.written()
      fs.writeFileSync(full.file, 'as it was\n')
      const { runId } = await full.begun()
      const failed = await full.until(runId, (run) => {
        const state = run.visits.get('write')?.state
        return state?.status === 'failed' ? state.error : undefined
      })
      expect(failed).toMatchObject({ code: 'checkpoint_limit', errorType: 'resource_exhausted' })
      expect(failed.description).toContain('raise HOLDPOINT_MAX_CHECKPOINTS')
      expect(fs.readFileSync(full.file, 'utf8')).toBe('as it was\n')
    } finally {
      await full.close()
    }
  })
})
