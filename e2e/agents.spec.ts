/* Agents from outside: they claim and report tasks, and ask for rollbacks with tokens of their own. */
import { createHmac, randomUUID, sign } from 'node:crypto'
import { TOKEN_TYPES } from '@/lib/ect/jws'
import { signClaims } from '@/lib/ect/sign'
import type { RollbackPlanView } from '@/lib/view/rollback-wire'
import type { ProblemDetails } from '@/lib/view/wire'
import type { Answer, Api } from './api'
import { claimAndCheckpoint, doneByClaim, offered } from './claimed'
import type { House } from './house'
import { OutsideAgent } from './outside-agent'
import { test as base, expect, register } from './test'

interface Agents {
  worker: OutsideAgent
  stranger: OutsideAgent
}

const test = base.extend<object, Agents>({
  worker: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads a fixture's needs from this pattern.
    async ({}, use) => {
      const agent = new OutsideAgent('field-worker')
      await agent.listen()
      await use(agent)
      await agent.stop()
    },
    { scope: 'worker' },
  ],
  stranger: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads a fixture's needs from this pattern.
    async ({}, use) => {
      const agent = new OutsideAgent('stranger')
      await agent.listen()
      await use(agent)
      await agent.stop()
    },
    { scope: 'worker' },
  ],
})

test.beforeEach(async ({ page, house, worker, stranger }) => {
  for (const agent of [worker, stranger]) await register(page.context(), house, agent)
})

test('a descriptor without actions is done by whoever claims its tasks', async ({
  api,
  worker,
  stranger,
}) => {
  const run = await api.startRun('bgp-failover-v2')
  const task = (node: string, act: string) => `/api/v1/tasks/${run}/${node}/${act}`
  await expect
    .poll(async () => (await offered(api)).filter((one) => one.run === run))
    .toMatchObject([{ node: 'n1', label: 'validate-config' }])

  expect((await api.post(task('n1', 'claim'), { agent: worker.id })).body).toMatchObject({
    claimedBy: worker.id,
  })
  const second = await api.post<ProblemDetails>(task('n1', 'claim'), { agent: stranger.id })
  expect(second.body).toMatchObject({ status: 409, code: 'task_claimed' })
  expect(second.body.detail).toContain(worker.id)
  expect((await api.post(task('n1', 'heartbeat'), { agent: worker.id, claim_s: 120 })).status).toBe(200)
  const other = await api.post<ProblemDetails>(task('n1', 'complete'), { agent: stranger.id, output: {} })
  expect(other.body.code).toBe('claim_lost')
  expect((await api.post(task('n1', 'complete'), { agent: worker.id, output: { valid: true } })).status).toBe(
    200,
  )

  // The second one is held for a person before anybody may claim it.
  const question = await api.held(run)
  expect(question.node).toBe('n2')
  const early = await api.post<ProblemDetails>(task('n2', 'claim'), { agent: worker.id })
  expect(early.body).toMatchObject({ status: 409, code: 'task_not_offered' })
  await decide(api, question)
  const checkpoint = await claimAndCheckpoint(api, run, 'n2', worker)
  expect(checkpoint).toMatch(/^[0-9a-f-]{36}$/)
  expect((await api.post(task('n2', 'complete'), { agent: worker.id, output: { peer: 'b' } })).status).toBe(
    200,
  )

  await expect
    .poll(async () => (await offered(api)).map((one) => `${one.run} ${one.node}`))
    .toContain(`${run} n3`)
  await api.must(api.post(task('n3', 'claim'), { agent: worker.id }))
  const failed = await api.post(task('n3', 'fail'), {
    agent: worker.id,
    description: 'The session does not come up.',
  })
  expect(failed.status).toBe(200)
  await expect.poll(async () => (await api.run(run)).row.status).not.toBe('running')
})

test('an agent of the run takes its own step back over the well-known address', async ({
  api,
  house,
  worker,
  stranger,
}) => {
  const { run, checkpoint } = await doneByClaim(api, worker)
  const token = worker.rollbackToken(run, checkpoint)
  const answer = await askRollback(house, token)
  expect(answer.body).toMatchObject({ status: 'completed', checkpoint_id: checkpoint })
  expect(worker.rollbacks.at(-1)).toMatchObject({ checkpoint_id: checkpoint })
  expect(worker.state).toBe('as it was')

  // The same request again is the same rollback.
  const sent = worker.rollbacks.length
  const again = await askRollback(house, token)
  expect(again.body).toMatchObject({
    rollback_id: (answer.body as { rollback_id: string }).rollback_id,
    status: 'completed',
  })
  expect(worker.rollbacks.length).toBe(sent)

  const outside = await askRollback(house, stranger.rollbackToken(run, checkpoint))
  expect(outside.body).toMatchObject({ status: 403, code: 'rollback_outside_run' })
})

test('no token but a fresh, signed one of the right agent is believed', async ({
  api,
  house,
  worker,
  stranger,
}) => {
  const { run, checkpoint } = await doneByClaim(api, worker)
  const now = Math.floor(Date.now() / 1000)
  const claims = worker.rollbackClaims(run, checkpoint)
  const forged = (header: object, sign: (input: string) => string) => {
    const input = [header, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.')
    return `${input}.${sign(input)}`
  }
  const { kid } = worker.key
  const nested = { a: { b: { c: { d: { e: { f: 1 } } } } } }
  const tries: Record<string, [token: string, code: string]> = {
    'no token': ['', 'ect_malformed'],
    'two tokens': [`${worker.rollbackToken(run, checkpoint)}, x`, 'ect_malformed'],
    'alg none': [forged({ typ: TOKEN_TYPES[0], alg: 'none', kid }, () => ''), 'ect_alg_refused'],
    'an HMAC with the public key': [
      forged({ typ: TOKEN_TYPES[0], alg: 'HS256', kid }, (input) =>
        createHmac('sha256', JSON.stringify(worker.jwks.keys[0])).update(input).digest('base64url'),
      ),
      'ect_alg_refused',
    ],
    'a key of another': [signClaims(claims, { ...stranger.key, kid }), 'ect_signature_invalid'],
    'a key nobody registered': [signClaims(claims, { ...worker.key, kid: 'other' }), 'ect_key_unknown'],
    'an agent nobody registered': [
      worker.rollbackToken(run, checkpoint, { iss: 'spiffe://nowhere.example/agent/x' }),
      'ect_key_unknown',
    ],
    'from the future': [
      worker.rollbackToken(run, checkpoint, { iat: now + 3_600, exp: now + 4_000 }),
      'ect_from_future',
    ],
    expired: [worker.rollbackToken(run, checkpoint, { iat: now - 700, exp: now - 100 }), 'ect_expired'],
    'for somebody else': [
      worker.rollbackToken(run, checkpoint, { aud: 'spiffe://other.example/holdpoint' }),
      'ect_audience',
    ],
    'a parent nobody knows': [worker.rollbackToken(run, randomUUID()), 'rollback_outside_run'],
    'another run': [worker.rollbackToken(run, checkpoint, { wid: randomUUID() }), 'rollback_outside_run'],
    'nested too deep': [rawToken(worker, { ...claims, ext: nested }), 'ect_ext_too_deep'],
    'an ext too long': [
      rawToken(worker, { ...claims, ext: { 'atd.reason': 'x'.repeat(5_000) } }),
      'ect_ext_too_long',
    ],
  }
  for (const [what, [token, code]] of Object.entries(tries)) {
    const answer = await askRollback(house, token)
    expect(answer.body, what).toMatchObject({ code })
    expect(answer.status, what).toBe(403)
  }
  expect(worker.state).toBe('changed')

  const first = worker.rollbackClaims(run, checkpoint)
  expect((await askRollback(house, signClaims(first, worker.key))).status).toBe(200)
  const replayed = await askRollback(
    house,
    signClaims({ ...first, ext: { 'atd.reason': 'Another one.' } }, worker.key),
  )
  expect(replayed.body).toMatchObject({ status: 403, code: 'ect_replayed' })
})

test('a checkpoint whose time has passed is refused in the plan, and nothing is done', async ({
  api,
  worker,
}) => {
  worker.ttlS = 1
  try {
    await api.importWorkflow({
      wf_id: 'short-lived',
      nodes: [
        {
          id: 'change',
          label: 'Change it',
          reversible: true,
          agent: worker.id,
          agent_config: { operation: 'change' },
        },
      ],
      edges: [],
    })
    const run = await api.startRun('short-lived')
    await expect.poll(async () => (await api.run(run)).row.terminal).toBe('success')
    const asked = { node: 'change', scope: 'single' }
    const plan = () => api.must(api.post<RollbackPlanView>(`/api/v1/runs/${run}/rollback-plans`, asked))
    await expect.poll(async () => (await plan()).steps).toMatchObject([{ node: 'change', fate: 'refused' }])
    expect((await plan()).steps[0]?.sentence).toMatch(/passed|expired|ran out/i)
    expect(worker.state).toBe('changed')
  } finally {
    worker.ttlS = 86_400
  }
})

async function decide(api: Api, question: { id: string; action: string }): Promise<void> {
  await api.must(
    api.post(`/api/v1/approvals/${question.id}/decision`, { verdict: 'approve', action: question.action }),
  )
}

/** Signed as it is: `signClaims` would not let such claims through. */
function rawToken(agent: OutsideAgent, claims: object): string {
  const header = { typ: TOKEN_TYPES[0], alg: 'ES256', kid: agent.key.kid }
  const input = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const signature = sign('sha256', Buffer.from(input), {
    key: agent.key.privateKey,
    dsaEncoding: 'ieee-p1363',
  })
  return `${input}.${signature.toString('base64url')}`
}

async function askRollback(house: House, token: string): Promise<Answer<unknown>> {
  const response = await fetch(`${house.origin}/.well-known/atd/rollback`, {
    method: 'POST',
    headers: token ? { 'execution-context': token } : {},
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}
