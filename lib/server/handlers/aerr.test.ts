/** The AERR endpoints: the requests as its sections 5 and 7 print them, typed in, and the answers printed there. */
import fs from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { sha256 } from '@/lib/base/hash'
import { mintUuid } from '@/lib/base/ids'
import { aerrAgentId, bareId, hexHash } from '@/lib/ect/aerr-words'
import { AskRates } from '../ask-rates'
import { DoorsScene, knock } from '../testing/doors-scene'
import { postAerrError, postAerrRollback } from './aerr'

let scene: DoorsScene
beforeAll(async () => {
  scene = await DoorsScene.open()
})
afterAll(() => scene.close())
afterEach(() => vi.unstubAllEnvs())

/** AERR section 5, with ids in place of its dots. */
const printedError = `{
        "error_id": "urn:uuid:ERROR",
        "source_agent": "urn:uuid:AGENT",
        "severity": "critical",
        "checkpoint_id": "urn:uuid:CHECKPOINT",
        "error_type": "action_failed",
        "description": "BGP session did not establish after config update",
        "timestamp": "2026-03-01T12:05:00Z",
        "upstream_errors": []
      }`

/** AERR section 7. */
const printedRollback = `{
        "rollback_id": "urn:uuid:ROLLBACK",
        "checkpoint_id": "urn:uuid:CHECKPOINT",
        "reason": "Upstream action caused cascading failure",
        "initiator": "urn:uuid:AGENT",
        "cascade": true
      }`

const filled = (text: string, ids: Record<string, string>) =>
  Object.entries(ids).reduce((filling, [name, id]) => filling.replace(name, id), text)
const agentA = '0a0a0a0a-1111-4111-8111-aaaaaaaaaaaa'

const tell = (body: string, token?: string, headers = {}) =>
  knock(postAerrError, { path: '/aerr/error', token, body, headers })
const rollBack = (body: string, token?: string, headers = {}) =>
  knock(postAerrRollback, { path: '/aerr/rollback', token, body, headers })

describe('the AERR endpoints', () => {
  it('roll back what the draft prints, with the answer it prints, once', async () => {
    const { runId, checkpoint } = await scene.written('as it was\n')
    await scene.does(runId, 'report', scene.b)
    const rollback = mintUuid()
    const body = filled(printedRollback, { ROLLBACK: rollback, CHECKPOINT: checkpoint, AGENT: agentA })
    const done = await rollBack(body, scene.a.token('atd:rollback_request', runId))
    expect(done.status).toBe(200)
    expect(done.body).toEqual({
      rollback_id: `urn:uuid:${rollback}`,
      status: 'partial',
      checkpoint_id: `urn:uuid:${checkpoint}`,
      state_hash_before: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      state_hash_after: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      cascaded_rollbacks: [{ agent_id: expect.stringMatching(/^urn:uuid:[0-9a-f-]{36}$/), status: 'failed' }],
    })
    expect(Object.keys(done.body)).toEqual([
      'rollback_id',
      'status',
      'checkpoint_id',
      'state_hash_before',
      'state_hash_after',
      'cascaded_rollbacks',
    ])
    expect(fs.readFileSync(scene.file, 'utf8')).toBe('as it was\n')
    const again = await rollBack(body, scene.a.token('atd:rollback_request', runId))
    expect([again.status, again.text]).toEqual([200, done.text])
    const rollbacks = await scene.house.book.read(runId, (run) => run.rollbacks.size)
    expect(rollbacks).toBe(1)

    const other = filled(printedRollback, { ROLLBACK: rollback, CHECKPOINT: mintUuid(), AGENT: agentA })
    const reused = await rollBack(other, scene.a.token('atd:rollback_request', runId))
    expect([reused.status, reused.body.code]).toEqual([409, 'rollback_id_reused'])
    expect(reused.body.detail).toContain('a new rollback needs a new id')
  })

  it('answer the same request, sent twice at once, with one rollback', async () => {
    const { runId, checkpoint } = await scene.written()
    const body = filled(printedRollback, { ROLLBACK: mintUuid(), CHECKPOINT: checkpoint, AGENT: agentA })
    const both = await Promise.all(
      [1, 2, 3].map(() => rollBack(body, scene.a.token('atd:rollback_request', runId))),
    )
    expect(both.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(new Set(both.map(({ text }) => text)).size).toBe(1)
    expect(await scene.house.book.read(runId, (run) => run.rollbacks.size)).toBe(1)
  })

  it('hand an irreversible action to a person and say "escalated"', async () => {
    const { runId, checkpoint } = await scene.written('x', { write: { reversible: false } })
    const body = filled(printedRollback, { ROLLBACK: mintUuid(), CHECKPOINT: checkpoint, AGENT: agentA })
    const done = await rollBack(body, scene.a.token('atd:rollback_request', runId))
    expect([done.status, done.body.status]).toEqual([200, 'escalated'])
    expect(await scene.house.book.read(runId, (run) => run.openApprovals.size)).toBeGreaterThan(0)
    expect(fs.readFileSync(scene.file, 'utf8')).toBe('Hello\n')
  })

  it('take an error that the draft prints into the run it is about, once', async () => {
    const { runId, checkpoint } = await scene.written()
    const error = mintUuid()
    const body = filled(printedError, { ERROR: error, CHECKPOINT: checkpoint, AGENT: agentA })
    const told = await tell(body, scene.a.token('atd:error', runId))
    expect([told.status, told.body]).toEqual([202, { error_id: `urn:uuid:${error}`, status: 'accepted' }])
    const kept = await scene.house.book.read(runId, (run) => run.signals.get(`urn:uuid:${error}`))
    expect(kept).toMatchObject({
      agent: scene.a.id,
      severity: 'critical',
      errorType: 'action_failed',
      checkpointId: checkpoint,
      description: 'BGP session did not establish after config update',
      upstream: [],
    })
    const again = await tell(body, scene.a.token('atd:error', runId))
    expect([again.status, again.text]).toEqual([202, told.text])
    expect(await scene.house.book.read(runId, (run) => run.signals.size)).toBe(1)
    const other = await tell(body.replace('critical', 'info'), scene.a.token('atd:error', runId))
    expect([other.status, other.body.code]).toEqual([409, 'error_id_reused'])
  })

  it('refuse an error about a checkpoint that is none of the agent’s chain', async () => {
    const { runId, checkpoint } = await scene.written()
    const elsewhere = await scene.written()
    const body = (of: string) => {
      const text = filled(printedError, { ERROR: mintUuid(), CHECKPOINT: of })
      return text.replace('"source_agent": "urn:uuid:AGENT",', '')
    }
    const cases = [
      [scene.c.token('atd:error', runId), checkpoint],
      [scene.a.token('atd:error', runId), elsewhere.checkpoint],
      [scene.a.token('atd:error', runId), mintUuid()],
    ] as const
    for (const [token, of] of cases) {
      const refused = await tell(body(of), token)
      expect([refused.status, refused.body.code]).toEqual([403, 'rollback_outside_run'])
      expect(refused.body.detail).toContain('only agents of the same run may')
    }
    expect(await scene.house.book.read(runId, (run) => run.signals.size)).toBe(0)
  })

  it('refuse a sender that names somebody else, and a body that does not fit', async () => {
    const { runId, checkpoint } = await scene.written()
    const body = filled(printedError, { ERROR: mintUuid(), CHECKPOINT: checkpoint, AGENT: mintUuid() })
    const refused = await tell(body, scene.a.token('atd:error', runId))
    expect([refused.status, refused.body.code]).toEqual([403, 'agent_mismatch'])
    expect(refused.body.detail).toContain(`which is urn:uuid:${agentA} at AERR`)
    const bad = await tell(body.replace('critical', 'terrible'), scene.a.token('atd:error', runId))
    expect([bad.status, bad.body.code]).toEqual([400, 'bad_request'])
    const text = await tell('not json', scene.a.token('atd:error', runId))
    expect([text.status, text.body.code]).toEqual([400, 'body_not_json'])
  })

  it('hold off an agent that asks too often, and say when to come back', async () => {
    const process = () => new AskRates(scene.house.store.rates, 'tries', 2)
    const [one, other] = [process(), process()]
    const agent = 'spiffe://a/b'
    await one.spend(agent, 0)
    await other.spend(agent, 0)
    const refused = {
      code: 'too_many_requests',
      message: 'spiffe://a/b asks more than 2 times a minute; ask again in 30 s.',
    }
    await expect(one.spend(agent, 0)).rejects.toMatchObject(refused)
    await expect(other.spend(agent, 0)).rejects.toMatchObject(refused)
    await one.spend('spiffe://a/c', 0)
    await expect(one.spend(agent, 10_000)).rejects.toThrow('ask again in 20 s')
    await other.spend(agent, 30_000)
    await expect(one.spend(agent, 30_000)).rejects.toThrow('ask again in 30 s')
  })
})

describe('a client certificate behind a proxy', () => {
  const header = 'x-forwarded-client-cert'
  const secret = 'a secret of the proxy'
  const names = (uri: string) => ({ [header]: `By=spiffe://p;Hash=00;URI=${uri}` })

  async function asks(headers: Record<string, string>) {
    const { runId, checkpoint } = await scene.written()
    const body = filled(printedError, { ERROR: mintUuid(), CHECKPOINT: checkpoint, AGENT: agentA })
    const said = await tell(body, undefined, headers)
    return { said, signals: await scene.house.book.read(runId, (run) => run.signals.size) }
  }

  it('proves an agent where the installation trusts the proxy', async () => {
    vi.stubEnv('HOLDPOINT_TRUSTED_CERT_HEADER', header)
    vi.stubEnv('HOLDPOINT_TRUSTED_PROXY_SECRET', secret)
    const { said, signals } = await asks({ ...names(scene.a.id), 'x-holdpoint-proxy-secret': secret })
    expect([said.status, signals]).toEqual([202, 1])
  })

  it('proves nothing where no header is configured', async () => {
    const { said, signals } = await asks({ ...names(scene.a.id), 'x-holdpoint-proxy-secret': secret })
    expect([said.status, said.body.code, signals]).toEqual([403, 'ect_malformed', 0])
  })

  it('is refused without the proxy’s secret, with several names, and for a stranger', async () => {
    vi.stubEnv('HOLDPOINT_TRUSTED_CERT_HEADER', header)
    const unset = await asks(names(scene.a.id))
    expect([unset.said.status, unset.said.body.code]).toEqual([403, 'proxy_untrusted'])
    expect(unset.said.body.detail).toContain('needs 16 characters or more')
    vi.stubEnv('HOLDPOINT_TRUSTED_PROXY_SECRET', secret)
    const wrong = await asks({ ...names(scene.a.id), 'x-holdpoint-proxy-secret': 'guessed' })
    expect(wrong.said.body.detail).toContain("without the proxy's secret")
    const proxied = { 'x-holdpoint-proxy-secret': secret }
    const two = await asks({ ...names(`${scene.a.id};URI=${scene.c.id}`), ...proxied })
    expect(two.said.body.detail).toContain('has 2 URIs among its names')
    const stranger = await asks({ ...names('spiffe://example.com/nobody'), ...proxied })
    expect([stranger.said.body.code, stranger.signals]).toEqual(['ect_key_unknown', 0])
    const rubbish = await asks({ [header]: 'rubbish', ...proxied })
    expect(rubbish.said.body.detail).toContain('cannot be read')
  })
})

describe('the words of AERR', () => {
  it('name agents and tokens by URN, and hashes in hex', () => {
    expect(aerrAgentId(`spiffe://example.com/agent/${agentA}`)).toBe(`urn:uuid:${agentA}`)
    expect(aerrAgentId('spiffe://example.com/agent/b')).toMatch(/^urn:uuid:[0-9a-f-]{36}$/)
    expect(aerrAgentId('backend:default')).toBe('backend:default')
    expect(bareId(`urn:uuid:${agentA.toUpperCase()}`)).toBe(agentA)
    expect(hexHash(sha256('test'))).toBe(
      'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    )
  })
})
