/*
 * What the drafts print, sent as they print it to a console that runs: the requests of AERR sections 5 to 7 and of cascade
 * (NOTES section 4), and the answers printed there. Only the dots are filled in.
 */
import { randomUUID } from 'node:crypto'
import { aerrAgentId } from '@/lib/ect/aerr-words'
import { signClaims } from '@/lib/ect/sign'
import type { Api } from './api'
import { claimAndCheckpoint, doneByClaim } from './claimed'
import type { House } from './house'
import { OutsideAgent } from './outside-agent'
import { expect, register, test } from './test'

const hex = /^sha256:[0-9a-f]{64}$/
const base64url = /^[\w-]{43}$/

test.describe('the doors of the drafts', () => {
  const router = new OutsideAgent('router-of-the-drafts')
  const mail = new OutsideAgent('mail-of-the-drafts')
  test.beforeAll(() => Promise.all([router.listen(), mail.listen()]))
  test.afterAll(() => Promise.all([router.stop(), mail.stop()]))
  test.beforeEach(async ({ page, house }) => {
    router.state = 'as it was'
    for (const agent of [router, mail]) await register(page.context(), house, agent)
  })

  test('take back a chain by the printed AERR request, once', async ({ api, house }) => {
    const { run, checkpoint } = await changedAndTold(api, router, mail)
    const rollback = `urn:uuid:${randomUUID()}`
    const request = {
      rollback_id: rollback,
      checkpoint_id: `urn:uuid:${checkpoint}`,
      reason: 'Upstream action caused cascading failure',
      initiator: aerrAgentId(router.id),
      cascade: true,
    }
    const ask = () => send(house, '/aerr/rollback', request, tokenFor(router, run, checkpoint))
    const answer = await ask()
    expect(answer.status).toBe(200)
    const said = JSON.parse(answer.text)
    expect(said).toEqual({
      rollback_id: rollback,
      status: 'partial',
      checkpoint_id: `urn:uuid:${checkpoint}`,
      state_hash_before: expect.stringMatching(hex),
      state_hash_after: expect.stringMatching(hex),
      cascaded_rollbacks: [{ agent_id: aerrAgentId(mail.id), status: 'escalated' }],
    })
    expect(router.state).toBe('as it was')
    // Who told of it cannot be untold: a person is asked about that.
    expect((await api.held(run)).node).toBe('tell')
    const sent = router.rollbacks.length
    expect((await ask()).text).toBe(answer.text)
    expect(router.rollbacks.length).toBe(sent)
  })

  test('take the printed AERR error into its run, and show circuits in its words', async ({ api, house }) => {
    const { run, checkpoint } = await doneByClaim(api, router)
    const error = {
      error_id: `urn:uuid:${randomUUID()}`,
      source_agent: aerrAgentId(router.id),
      severity: 'critical',
      checkpoint_id: `urn:uuid:${checkpoint}`,
      error_type: 'action_failed',
      description: 'BGP session did not establish after config update',
      timestamp: '2026-03-01T12:05:00Z',
      upstream_errors: [],
    }
    const tell = () => send(house, '/aerr/error', error, tokenFor(router, run, checkpoint, 'atd:error'))
    const told = await tell()
    expect([told.status, JSON.parse(told.text)]).toEqual([
      202,
      { error_id: error.error_id, status: 'accepted' },
    ])
    expect((await tell()).text).toBe(told.text)

    const circuits = await api.must(api.get<{ circuits: object[] }>('/aerr/circuits'))
    expect(Array.isArray(circuits.circuits)).toBe(true)
    expect((await fetch(`${house.origin}/aerr/circuits`)).status).toBe(401)
  })

  test('prepare and execute by the printed cascade requests', async ({ api, house }) => {
    const { run, checkpoint } = await doneByClaim(api, router)
    const rollback_id = `urn:uuid:${randomUUID()}`
    const token = () => tokenFor(router, run, checkpoint, 'rollback_start')
    const path = '/.well-known/cascade/rollback'
    const wish = { rollback_id, checkpoint_id: checkpoint, scope: 'sub_dag' }
    const vote = await send(house, `${path}/prepare`, wish, token())
    expect([vote.status, JSON.parse(vote.text)]).toEqual([
      200,
      { rollback_id, checkpoint_id: checkpoint, status: 'prepared' },
    ])
    expect(router.state).toBe('changed')
    const done = await send(
      house,
      path,
      { rollback_id, checkpoint_id: checkpoint, phase: 'execute' },
      token(),
    )
    expect([done.status, JSON.parse(done.text)]).toEqual([
      200,
      {
        rollback_id,
        status: 'completed',
        checkpoint_id: checkpoint,
        state_hash_before: expect.stringMatching(base64url),
        state_hash_after: expect.stringMatching(base64url),
        cascaded: [],
        failed_agents: [],
      },
    ])
    expect(router.state).toBe('as it was')

    const shown = await fetch(`${house.origin}/.well-known/cascade/checkpoints/${checkpoint}`, {
      headers: { 'execution-context': tokenFor(router, run, checkpoint, 'hp:look') },
    })
    expect([shown.status, await shown.json()]).toEqual([
      200,
      {
        checkpoint_id: checkpoint,
        ect: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
        verification: { signature_valid: true, out_hash_matches: true, expired: false },
      },
    ])
  })
})

/** A run in which one agent changed what it can put back, and another told of it, which nobody can take back. */
async function changedAndTold(api: Api, router: OutsideAgent, mail: OutsideAgent) {
  await api.importWorkflow({
    wf_id: 'change-and-tell',
    nodes: [
      { id: 'change', label: 'Change it', reversible: true },
      { id: 'tell', label: 'Tell of it', reversible: false },
    ],
    edges: [{ from: 'change', to: 'tell' }],
  })
  const run = await api.startRun('change-and-tell')
  const checkpoint = await claimAndCheckpoint(api, run, 'change', router)
  router.state = 'changed'
  await api.must(api.post(`/api/v1/tasks/${run}/change/complete`, { agent: router.id, output: {} }))
  await claimAndCheckpoint(api, run, 'tell', mail, false)
  await api.must(api.post(`/api/v1/tasks/${run}/tell/complete`, { agent: mail.id, output: {} }))
  await expect.poll(async () => (await api.run(run)).row.terminal).toBe('success')
  return { run, checkpoint }
}

function tokenFor(agent: OutsideAgent, run: string, checkpoint: string, exec_act = 'atd:rollback_request') {
  return signClaims({ ...agent.rollbackClaims(run, checkpoint), exec_act, ext: {} }, agent.key)
}

async function send(house: House, path: string, body: object, token: string) {
  const response = await fetch(`${house.origin}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'execution-context': token },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}
