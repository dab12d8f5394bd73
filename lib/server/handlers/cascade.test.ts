/** The cascade endpoints: the requests as NOTES section 4 prints them, typed in, and the answers printed there. */
import fs from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mintUuid } from '@/lib/base/ids'
import type { JsonObject } from '@/lib/base/json'
import { DoorsScene, knock } from '../testing/doors-scene'
import { getCascadeCheckpoint, postCascadeRollback, postPrepare } from './cascade'

let scene: DoorsScene
beforeAll(async () => {
  scene = await DoorsScene.open()
})
afterAll(() => scene.close())

const printedPrepare = `{"rollback_id":"urn:uuid:ROLLBACK","checkpoint_id":"CHECKPOINT","scope":"sub_dag"}`
const printedRollback = `{"rollback_id":"urn:uuid:ROLLBACK","checkpoint_id":"CHECKPOINT","phase":"execute"}`
const filled = (text: string, rollback: string, checkpoint: string) =>
  text.replace('ROLLBACK', rollback).replace('CHECKPOINT', checkpoint)

const prepare = (body: string, token?: string) =>
  knock(postPrepare, { path: '/.well-known/cascade/rollback/prepare', token, body })
const rollBack = (body: string, token?: string) =>
  knock(postCascadeRollback, { path: '/.well-known/cascade/rollback', token, body })

describe('the cascade endpoints', () => {
  it('prepare and execute what the draft prints, with the answers it prints', async () => {
    const { runId, checkpoint } = await scene.written('as it was\n')
    const rollback = mintUuid()

    const vote = await prepare(
      filled(printedPrepare, rollback, checkpoint),
      scene.a.token('rollback_start', runId),
    )
    expect(vote.status).toBe(200)
    expect(vote.text).toBe(
      `{"rollback_id":"urn:uuid:${rollback}","checkpoint_id":"${checkpoint}","status":"prepared"}`,
    )
    expect(fs.readFileSync(scene.file, 'utf8')).toBe('Hello\n')

    const body = filled(printedRollback, rollback, checkpoint)
    const done = await rollBack(body, scene.a.token('rollback_start', runId))
    expect(done.status).toBe(200)
    expect(done.body).toEqual({
      rollback_id: `urn:uuid:${rollback}`,
      status: 'completed',
      checkpoint_id: checkpoint,
      state_hash_before: expect.stringMatching(/^[\w-]{43}$/),
      state_hash_after: expect.stringMatching(/^[\w-]{43}$/),
      cascaded: [],
      failed_agents: [],
    })
    expect(Object.keys(done.body)).toEqual([
      'rollback_id',
      'status',
      'checkpoint_id',
      'state_hash_before',
      'state_hash_after',
      'cascaded',
      'failed_agents',
    ])
    expect(fs.readFileSync(scene.file, 'utf8')).toBe('as it was\n')

    // Again, with a fresh token: the same answer, byte for byte, and nothing is done twice.
    fs.writeFileSync(scene.file, 'written since\n')
    const again = await rollBack(body, scene.a.token('rollback_start', runId))
    expect([again.status, again.text]).toEqual([200, done.text])
    expect(fs.readFileSync(scene.file, 'utf8')).toBe('written since\n')
    const votedAgain = await prepare(
      filled(printedPrepare, rollback, checkpoint),
      scene.a.token('rollback_start', runId),
    )
    expect(votedAgain.text).toBe(vote.text)
  })

  it('name the agents whose part was not taken back', async () => {
    const { runId, checkpoint } = await scene.written()
    // It had an effect, as far as anybody knows, and took no checkpoint.
    await scene.does(runId, 'report', scene.b)
    const body = filled(printedRollback, mintUuid(), checkpoint)
    const done = await rollBack(body, scene.a.token('atd:rollback_request', runId))
    expect(done.body).toMatchObject({
      status: 'partial',
      cascaded: [{ agent: scene.b.id, status: 'failed' }],
      failed_agents: [scene.b.id],
    })
  })

  it('answer a checkpoint with its token and what it is worth, to agents of its run alone', async () => {
    const { runId, checkpoint } = await scene.written()
    const get = (token?: string) =>
      knock(getCascadeCheckpoint, {
        path: `/.well-known/cascade/checkpoints/${checkpoint}`,
        token,
        params: { id: checkpoint },
      })
    const found = await get(scene.a.token('hp:look', runId))
    expect(found.status).toBe(200)
    const row = await scene.house.store.ledger.row(runId, checkpoint)
    expect(found.body).toEqual({
      checkpoint_id: checkpoint,
      ect: row?.token,
      verification: { signature_valid: true, out_hash_matches: true, expired: false },
    })
    expect(found.text).not.toContain('before')

    const token = scene.a.token('hp:look', runId)
    expect((await get(token)).status).toBe(200)
    expect(await get(token)).toMatchObject({ status: 403, body: { code: 'ect_replayed' } })
    const stranger = await get(scene.c.token('hp:look', runId))
    expect([stranger.status, stranger.body.code]).toEqual([403, 'rollback_outside_run'])
    expect(await get()).toMatchObject({ status: 403, body: { code: 'ect_malformed' } })
  })

  it('say why a checkpoint cannot be prepared', async () => {
    const irreversible = await scene.written('x', { write: { reversible: false } })
    const ask = async (runId: typeof irreversible.runId, checkpoint: string) => {
      const body = filled(printedPrepare, mintUuid(), checkpoint)
      const { body: said } = await prepare(body, scene.a.token('rollback_start', runId))
      return [said.status, said.reason]
    }
    expect(await ask(irreversible.runId, irreversible.checkpoint)).toEqual(['cannot_prepare', 'irreversible'])
    expect(await ask(irreversible.runId, mintUuid())).toEqual(['cannot_prepare', 'unknown_checkpoint'])
  })

  it('refuse another request under the same id, and whoever is not before the checkpoint', async () => {
    const one = await scene.written()
    await scene.does(one.runId, 'report', scene.b)
    const two = await scene.written()
    const rollback = mintUuid()
    await prepare(
      filled(printedPrepare, rollback, one.checkpoint),
      scene.a.token('rollback_start', one.runId),
    )
    const another = await prepare(
      filled(printedPrepare, rollback, two.checkpoint),
      scene.a.token('rollback_start', two.runId),
    )
    expect([another.status, another.body.code]).toEqual([409, 'rollback_id_reused'])
    const executed = await rollBack(
      filled(printedRollback, rollback, two.checkpoint),
      scene.a.token('rollback_start', two.runId),
    )
    expect([executed.status, executed.body.code]).toEqual([409, 'rollback_id_reused'])

    const body = filled(printedRollback, mintUuid(), one.checkpoint)
    const behind = await rollBack(body, scene.b.token('rollback_start', one.runId))
    expect([behind.status, behind.body.code]).toEqual([403, 'rollback_outside_run'])
    expect(behind.body.detail).toContain('only agents of the same run may')
    const elsewhere = await rollBack(body, scene.a.token('rollback_start', two.runId))
    expect([elsewhere.status, elsewhere.body.code]).toEqual([403, 'rollback_outside_run'])
  })

  it('refuse a token that was signed for something else, or for another body', async () => {
    const { runId, checkpoint } = await scene.written()
    const body = filled(printedRollback, mintUuid(), checkpoint)
    const error = await rollBack(body, scene.a.token('atd:error', runId))
    expect([error.status, error.body.code]).toEqual([403, 'ect_claim_invalid'])
    expect(error.body.detail).toContain('takes one that says atd:rollback_request or rollback_start.')
    const token = scene.a.token('rollback_start', runId, { ext: { 'hp.body_hash': 'x'.repeat(43) } })
    const other = await rollBack(body, token)
    expect([other.status, other.body.code]).toEqual([403, 'ect_claim_invalid'])
    expect(other.body.detail).toContain('another body')
  })
  it('refuse a body that says otherwise than its token, and do nothing', async () => {
    const { runId, checkpoint } = await scene.written('as it was\n')
    const asked = { rollback_id: `urn:uuid:${mintUuid()}`, checkpoint_id: checkpoint, phase: 'execute' }
    const signed = (ext: JsonObject) => scene.a.token('rollback_start', runId, { ext })
    const contradictions: [string, string][] = [
      [signed({ 'cascade.checkpoint_id': mintUuid() }), '"checkpoint_id"'],
      [signed({ 'cascade.rollback_id': `urn:uuid:${mintUuid()}` }), '"rollback_id"'],
      // Silence in the body would have meant more than was signed.
      [signed({ 'cascade.scope': 'single' }), '"scope" is "single"'],
      [signed({ 'atd.cascade': false }), '"cascade" is false'],
      [scene.a.token('atd:rollback_request', runId, { par: [mintUuid()] }), 'the parent is'],
    ]
    for (const [token, words] of contradictions) {
      for (const ask of [prepare, rollBack]) {
        const refused = await ask(JSON.stringify(asked), token)
        expect([refused.status, refused.body.code]).toEqual([403, 'ect_claim_invalid'])
        expect(refused.body.detail).toContain(words)
      }
    }
    expect(await scene.house.book.read(runId, (run) => run.rollbacks.size)).toBe(0)
    expect(fs.readFileSync(scene.file, 'utf8')).toBe('Hello\n')

    const same = { rollback_id: asked.rollback_id, checkpoint_id: `urn:uuid:${checkpoint}`, scope: 'sub_dag' }
    const ext = Object.fromEntries(Object.entries(same).map(([claim, said]) => [`cascade.${claim}`, said]))
    const done = await rollBack(JSON.stringify(asked), signed({ ...ext, 'atd.cascade': true }))
    expect([done.status, done.body.status]).toEqual([200, 'completed'])
  })
})
