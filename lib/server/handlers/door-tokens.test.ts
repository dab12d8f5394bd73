/** What agents show at the protocol endpoints stands in the ledger of the run that it is of. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mintUuid, type RunId } from '@/lib/base/ids'
import { DoorsScene, knock, type TestAgent } from '../testing/doors-scene'
import { postAerrError } from './aerr'
import { getCascadeCircuits, postPrepare } from './cascade'
import { postAgentRollback } from './well-known'

let scene: DoorsScene
beforeAll(async () => {
  scene = await DoorsScene.open()
})
afterAll(() => scene.close())

const jtiOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).jti
/** The ledger's row of a token that was shown: the token as it was signed. */
const rowOf = (runId: RunId, token: string) => scene.house.store.ledger.row(runId, jtiOf(token))
const circuits = (token: string) =>
  knock(getCascadeCircuits, { path: '/.well-known/cascade/circuits', token })
const prepare = (checkpoint: string, token: string) =>
  knock(postPrepare, {
    path: '/.well-known/cascade/rollback/prepare',
    token,
    body: { rollback_id: mintUuid(), checkpoint_id: checkpoint },
  })

describe('a request', () => {
  it('stands in its run as it was signed, and serves once', async () => {
    const { runId, checkpoint } = await scene.written()
    const token = scene.a.token('rollback_start', runId, { par: [checkpoint] })
    expect((await prepare(checkpoint, token)).body).toMatchObject({ status: 'prepared' })
    expect((await rowOf(runId, token))?.token).toBe(token)
    const again = await prepare(checkpoint, token)
    expect([again.status, again.body.code]).toEqual([403, 'ect_replayed'])
  })

  it('is answered all the same where it does not fit its run, and stands nowhere', async () => {
    const { runId, checkpoint } = await scene.written()
    const token = scene.a.token('rollback_start', runId, { par: [mintUuid()] })
    const vote = await prepare(checkpoint, token)
    expect([vote.status, vote.body.status]).toEqual([200, 'prepared'])
    expect(await rowOf(runId, token)).toBeUndefined()
  })

  it('stands nowhere when its agent has no part in the run', async () => {
    const { runId, checkpoint } = await scene.written()
    const token = scene.c.token('rollback_start', runId, { par: [checkpoint] })
    const refused = await prepare(checkpoint, token)
    expect([refused.status, refused.body.code]).toEqual([403, 'rollback_outside_run'])
    expect(await rowOf(runId, token)).toBeUndefined()
  })

  it('for a rollback under ATD comes before what was done about it', async () => {
    const { runId, checkpoint } = await scene.written('as it was\n')
    const token = scene.a.token('atd:rollback_request', runId, { par: [checkpoint] })
    const path = '/.well-known/atd/rollback'
    const done = await knock(postAgentRollback, { path, token, body: {} })
    expect(done.body).toMatchObject({ status: 'completed' })
    const asked = await rowOf(runId, token)
    const restored = await scene.house.book.read(runId, (run) =>
      [...run.rollbacks.values()].map(({ resultJti }) => resultJti),
    )
    const result = await scene.house.store.ledger.row(runId, restored[0] ?? '')
    expect(asked?.seq).toBeLessThan(result?.seq ?? 0)
  })

  it('for a rollback under ATD names one checkpoint, beside whatever else it follows from', async () => {
    const [one, two] = [await scene.written(), await scene.written()]
    const { runId, checkpoint } = one
    const path = '/.well-known/atd/rollback'
    const ask = (agent: TestAgent, par: string[]) =>
      knock(postAgentRollback, {
        path,
        token: agent.token('atd:rollback_request', runId, { par }),
        body: {},
      })
    const none = await ask(scene.a, [])
    expect([none.status, none.body.code]).toEqual([403, 'ect_claim_invalid'])
    expect(none.body.detail).toContain('has no parents')
    expect((await ask(scene.a, [two.checkpoint])).body.code).toBe('rollback_outside_run')
    const [start] = await scene.house.store.ledger.rows(runId, 0, 1)
    const others = await scene.house.book.read(runId, (run) => [...run.checkpoints.keys()])
    expect(others).toEqual([checkpoint])
    const done = await ask(scene.a, [start?.jti ?? '', checkpoint])
    expect(done.body).toMatchObject({ status: 'completed', checkpoint_id: checkpoint })
  })

  it('that tells of an error tells of it once', async () => {
    const { runId, checkpoint } = await scene.written()
    const ext = { 'atd.severity': 'error', 'atd.checkpoint_id': checkpoint, 'atd.error_type': 'timeout' }
    const token = scene.a.token('atd:error', runId, { par: [checkpoint], ext })
    const errorId = mintUuid()
    const told = { error_id: errorId, severity: 'error', checkpoint_id: checkpoint, error_type: 'timeout' }
    for (const other of [{ severity: 'critical' }, { checkpoint_id: mintUuid() }]) {
      const body = { ...told, ...other }
      const refused = await knock(postAerrError, { path: '/aerr/error', token, body })
      expect(refused.status).toBe(403)
      expect(refused.body.code).toBe('severity' in other ? 'ect_claim_invalid' : 'rollback_outside_run')
    }
    expect((await knock(postAerrError, { path: '/aerr/error', token, body: told })).status).toBe(202)
    expect((await rowOf(runId, token))?.token).toBe(token)
    const signals = await scene.house.book.read(runId, (run) => [...run.signals.keys()])
    expect(signals).toEqual([errorId])
  })
})

describe('a token that proves who calls', () => {
  it('joins its run where the drafts name what it says', async () => {
    const { runId, checkpoint } = await scene.written()
    const ext = { 'atd.downstream_agent': scene.b.id, 'atd.error_rate': 0.75 }
    const token = scene.a.token('atd:circuit_open', runId, { par: [checkpoint], ext })
    expect((await circuits(token)).status).toBe(200)
    expect((await rowOf(runId, token))?.token).toBe(token)
    const seen = await scene.house.book.read(runId, (run) => [...run.circuits.values()])
    expect(seen).toMatchObject([{ caller: scene.a.id, downstream: scene.b.id, status: 'open' }])
  })

  it('is refused when what it says does not fit its run', async () => {
    const { runId } = await scene.written()
    const token = scene.a.token('atd:circuit_open', runId, { par: [mintUuid()] })
    const refused = await circuits(token)
    expect([refused.status, refused.body.code]).toEqual([403, 'ect_parent_unknown'])
    expect(await rowOf(runId, token)).toBeUndefined()
  })

  it('is left alone when its act is a name of its own, or its run is nobody’s here', async () => {
    const { runId } = await scene.written()
    const elsewhere = `run_${mintUuid().replaceAll('-', '')}` as RunId
    for (const token of [scene.a.token('look_around', runId), scene.a.token('atd:checkpoint', elsewhere)]) {
      expect((await circuits(token)).status).toBe(200)
      expect(await rowOf(runId, token)).toBeUndefined()
    }
  })
})
