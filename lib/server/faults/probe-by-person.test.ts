/* An open breaker that nobody calls any more: a person has the one probe go, and the agent's own answer alone closes it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createLocalJWKSet } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Served, serve } from '@/examples/agents/serve'
import { registerAgent } from '@/lib/auth/agents'
import { mintUuid } from '@/lib/base/ids'
import { parseClaims } from '@/lib/ect/claims'
import { unverifiedPayload } from '@/lib/ect/jws'
import type { CircuitDetail, CircuitProbed } from '@/lib/view/circuit-wire'
import { circuitId } from '@/lib/worker/circuit-entry'
import { getCircuit, postForce, postProbe } from '../handlers/circuits'
import { postRun } from '../handlers/runs'
import type { Browser } from '../testing/console'
import { LabScene } from '../testing/lab-scene'
import { MovedClock } from '../testing/moved-clock'

const id = 'spiffe://holdpoint.local/agent/lonely'
const clock = new MovedClock()
const circuit = circuitId('workflow:calls-lonely', id)
const params = { circuit }
let scene: LabScene
let folder: string
let running: Awaited<ReturnType<typeof serve>>
let otto: Browser
let version: Awaited<ReturnType<LabScene['workflow']>>
/** How it answers; the phases it was asked for; what the answer waits for. */
const agent = { is: 'broken' as 'broken' | 'well' | 'unsigned', asked: [] as string[], done: 0 }
let gate: Promise<void> | undefined

const served: Served = {
  id,
  name: 'lonely',
  operations: {
    look: {
      consequence: 'reversible',
      describe: async () => ({ sentence: 'Looks.', target: 'what it sees' }),
      execute: async () => {
        agent.done++
        return { output: {} }
      },
      state: async () => ({ seen: agent.done }),
    },
  },
}

beforeAll(async () => {
  scene = await LabScene.open({ timer: clock, lab: false })
  otto = await scene.at.person('otto', 'operator')
  folder = mkdtempSync(path.join(tmpdir(), 'lonely-agent-'))
  running = await serve(served, {
    folder,
    port: 0,
    callers: (header, token) => createLocalJWKSet(scene.at.house.keys.jwks())(header, token),
    async sending(request, answer) {
      if (request.method === 'GET') return answer()
      agent.asked.push((await request.clone().json()).phase)
      await gate
      if (agent.is === 'broken') return new Response('{}', { status: 503 })
      const said = await answer()
      return agent.is === 'well' ? said : new Response(await said.text())
    },
  })
  await scene.register(id, 'lonely', running.baseUrl)
  const constraints = { 'hp.circuit_min_calls': 1, 'hp.when_open': 'fail' }
  const step = { id: 'step', label: 'Look', hitl_required: false, constraints, agent: id }
  const hints = { resource_hints: { priority: 'normal', timeout_s: 30 } }
  const node = { ...step, ...hints, agent_config: { operation: 'look' } }
  const text = { wf_id: 'calls-lonely', description: 'Looks', nodes: [node], edges: [] }
  version = await scene.workflow(JSON.stringify(text))
  const run = await scene.start(version)
  await scene.untilFact(run, 'workflow_complete')
  agent.asked = []
})

afterAll(async () => {
  await scene.close()
  await running.stop()
  rmSync(folder, { recursive: true })
})

const probe = (who = otto) =>
  who.ask<CircuitProbed & { code?: string; detail?: string }>(postProbe, 'POST', {
    params,
    body: {},
    headers: { 'idempotency-key': mintUuid() },
  })
const detail = async () => (await otto.ask<CircuitDetail>(getCircuit, 'GET', { params })).body

it('lets no run begin meanwhile whose first step is to fail then, and says when to come again', async () => {
  const body = { workflow: 'calls-lonely', input: {} }
  const runs = async () => (await scene.at.house.store.runs.list({}, { limit: 50 })).items.length
  const before = await runs()
  const headers = { 'idempotency-key': mintUuid() }
  const refused = await otto.ask<{ code: string; detail: string }>(postRun, 'POST', { body, headers })
  expect(refused).toMatchObject({
    status: 503,
    body: { code: 'dependency_open', error_type: 'circuit_open', downstream_agent: id },
  })
  expect(refused.body.detail).toMatch(
    /^No run was started: "Look" comes first and calls [\w-]+, whose breaker lets no call by for \d+ s more; start the run then\.$/,
  )
  expect(await runs()).toBe(before)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(agent.asked).toEqual([])
})

it('is not before the cooldown is over, nor for who may only look, nor while somebody holds it open', async () => {
  expect(await detail()).toMatchObject({
    row: { status: 'open' },
    question: { node: 'step', operation: 'look' },
  })
  const early = await probe()
  expect([early.status, early.body.code]).toEqual([409, 'circuit_open'])
  expect(early.body.detail).toMatch(
    /^Its cooldown lasts another (2\d|30) s; a probe may go then\. To let calls go at once, force the breaker closed$/,
  )
  expect((await probe(await scene.at.person('vi', 'viewer'))).status).toBe(403)
  clock.advance(31_000)
  const body = { to: 'open', reason: 'maintenance', minutes: 1 }
  await otto.ask(postForce, 'POST', { params, body, headers: { 'idempotency-key': mintUuid() } })
  expect((await probe()).body.detail).toBe(
    'A person holds it open for another 1 min. To let a probe go before, lift that',
  )
  clock.advance(61_000)
  expect(agent.asked).toEqual([])
})

it('opens it again with twice the cooldown when the agent fails, or does not sign its answer', async () => {
  const failed = await probe()
  expect(failed.body).toMatchObject({ ok: false, circuit: { status: 'open', cooldownS: 60, reopened: 1 } })
  expect(failed.body.sentence).toContain('lonely answered "state" with 503')
  clock.advance(61_000)
  agent.is = 'unsigned'
  const unsigned = await probe()
  expect(unsigned.body).toMatchObject({ ok: false, circuit: { status: 'open', cooldownS: 120, reopened: 2 } })
  expect(unsigned.body.sentence).toBe('lonely did not sign its answer, or said that it is unwell')
  expect(agent.asked).toEqual(['state', 'state'])
})

it('is one at a time, closes by the answer the agent signed, and says in the chain who asked', async () => {
  clock.advance(121_000)
  agent.is = 'well'
  agent.asked = []
  let open: () => void = () => undefined
  gate = new Promise((resolve) => {
    open = resolve
  })
  const first = probe()
  const others = [probe(), probe()]
  // They find the first one out; it comes back only after that.
  for (const other of await Promise.all(others))
    expect([other.status, other.body.code]).toEqual([409, 'probe_taken'])
  open()
  expect((await first).body).toMatchObject({
    ok: true,
    sentence: 'lonely answered, signed: the breaker is closed',
    circuit: { status: 'closed', lastProbe: { ok: true } },
  })
  expect([agent.asked, agent.done]).toEqual([['state'], 0])
  const { history, question } = await detail()
  expect(question).toBeUndefined()
  expect(history.slice(0, 2).map(({ what, by }) => [what, by])).toEqual([
    ['closed', undefined],
    ['probed', 'person:otto'],
  ])
  expect(parseClaims(unverifiedPayload(history[1]?.token ?? '')).ext).toMatchObject({
    'hp.by': 'person:otto',
  })
  const again = await probe()
  expect([again.status, again.body.code]).toEqual([409, 'run_moved_on'])
  expect(agent.asked).toEqual(['state'])
})

it('that fails for the third time asks people, once, in the run that opened the breaker though it has ended', async () => {
  agent.is = 'broken'
  const run = await scene.start(version)
  await scene.untilFact(run, 'workflow_complete')
  for (let failed = 1; failed <= 3; failed++) {
    clock.advance(301_000)
    expect((await probe()).body).toMatchObject({ ok: false, circuit: { reopened: failed } })
  }
  const asked = await scene.untilFact(run, 'approval_asked')
  expect(asked).toMatchObject({
    kind: 'circuit',
    node: 'step',
    role: 'operator',
    sentence: 'The breaker on lonely opened again after 3 probes; its probes are held until you decide',
  })
  clock.advance(301_000)
  const held = await probe()
  expect([held.status, held.body.code, held.body.detail]).toEqual([
    409,
    'probe_held',
    'People are asked about it; their answer lets a probe go',
  ])
  const { approvals } = await scene.at.house.book.read(run, ({ openApprovals }) => ({
    approvals: openApprovals.size,
  }))
  expect(approvals).toBe(1)
})

it('is not offered for an agent that is not known to sign', async () => {
  const base = { id, name: 'lonely', baseUrl: running.baseUrl, jwks: running.jwks }
  await registerAgent(scene.at.house.auth, { ...base, protocols: ['cascade'] }, 'person:otto')
  const refused = await probe()
  expect([refused.status, refused.body.code]).toEqual([422, 'probe_impossible'])
  expect(refused.body.detail).toBe(
    'Nothing can be asked here without a side effect; the next call after the cooldown is the probe',
  )
})
