import { generateKeyPairSync, randomUUID } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { POST } from '@/app/api/v1/tokens/route'
import { registerAgent } from '@/lib/auth/agents'
import { hashJson } from '@/lib/base/hash'
import { prefixed, runIdOf } from '@/lib/base/ids'
import type { JsonObject } from '@/lib/base/json'
import { type Claims, parseClaims } from '@/lib/ect/claims'
import { unverifiedPayload } from '@/lib/ect/jws'
import { verifyLedgerNode } from '@/lib/ect/ledger-verify-node'
import { type SigningKey, signClaims } from '@/lib/ect/sign'
import type { Run } from '@/lib/engine/run'
import type { AgentActivity, RunKeys } from '@/lib/view/agent-wire'
import type { NewApiToken } from '@/lib/view/person-wire'
import { RunFold } from '@/lib/view/run-fold'
import { executePlan } from '@/lib/worker/execute-plan'
import { makePlan } from '@/lib/worker/plan'
import { verifyBundle } from '../bundle/verify-bundle'
import type { TokenAnswer } from '../ingest'
import { startRun } from '../runs'
import { type Answered, ask, type Browser, TestConsole } from '../testing/console'
import { startWork } from '../work'
import { importWorkflow } from '../workflows'
import { getAgentActivity, getRunKeys, revokeAgentKey } from './agents'
import { getExport } from './export'
import { postHeartbeat } from './tasks'

let at: TestConsole
let ada: Browser

class Agent {
  readonly key: SigningKey
  readonly jwk: object

  constructor(
    readonly id: string,
    kid: string,
  ) {
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.key = { kid, alg: 'ES256', privateKey: pair.privateKey }
    this.jwk = { ...pair.publicKey.export({ format: 'jwk' }), kid, alg: 'ES256' }
  }

  claims(wid: string, act: string, par: string[], more: Partial<Claims> = {}): Claims {
    const iat = Math.floor(Date.now() / 1000)
    const jti = randomUUID()
    return { iss: this.id, aud: at.house.id, iat, exp: iat + 600, jti, wid, exec_act: act, par, ...more }
  }

  sign(claims: Claims): string {
    return signClaims(claims, this.key)
  }

  /** A token for the request itself. */
  sender(): string {
    return this.sign(this.claims(randomUUID(), 'report', []))
  }
}

const planner = new Agent('spiffe://lab.example/agent/planner', 'p1')
const router = new Agent('spiffe://lab.example/agent/router', 'r1')
const stranger = new Agent('spiffe://lab.example/agent/stranger', 's1')
const baseUrl = 'http://127.0.0.1:4799'

beforeAll(async () => {
  at = await TestConsole.open()
  ada = await at.person('ada', 'administrator', 'operator')
  for (const agent of [planner, router, stranger]) {
    const name = agent.id.split('/').at(-1) as string
    const jwks = { keys: [agent.jwk] }
    await registerAgent(at.house.auth, { id: agent.id, name, baseUrl, jwks }, 'person:ada')
  }
})
afterAll(() => at.close())

type Reports = { items: TokenAnswer[] }

async function send(
  tokens: string[],
  { by = planner, links }: { by?: Agent; links?: Record<string, string> } = {},
): Promise<TokenAnswer[]> {
  const answer = await ask<Reports>(POST, 'POST', {
    body: { tokens, ...(links && { links }) },
    headers: { 'execution-context': by.sender() },
  })
  expect(answer.status).toBe(200)
  return answer.body.items
}

const codes = (answers: TokenAnswer[]) =>
  answers.map((answer) => (answer.status === 'accepted' ? 'accepted' : answer.code))

const runOf = <T>(wid: string, look: (run: Run) => T) => at.house.book.read(runIdOf(wid), look)
async function keysOf({ id }: Agent) {
  const keys = await at.house.keysOf(id)
  if (!keys) throw new Error(`No keys of ${id}`)
  return keys
}

const rowsOf = (wid: string) => at.house.store.ledger.rows(runIdOf(wid), 0, 1000)

/** A run that the planner began, and its first token. */
async function begun(more: Partial<Claims> = {}) {
  const wid = randomUUID()
  const start = planner.claims(wid, 'atd:workflow_start', [], {
    ext: { 'atd.wf_id': 'nightly audit', 'atd.description': 'Audits the edge' },
    aud: [at.house.id, router.id],
    ...more,
  })
  return { wid, start, answers: await send([planner.sign(start)]) }
}

describe('a run that agents report', () => {
  it('begins with a first workflow_start, keeps tokens as they were signed, and verifies with each signer’s keys', async () => {
    const { wid, start } = await begun()
    const plan = planner.claims(wid, 'plan_change', [start.jti])
    const act = router.claims(wid, 'update_bgp', [plan.jti])
    const seal = router.claims(wid, 'atd:checkpoint', [act.jti], {
      out_hash: hashJson('before'),
      ext: {
        'atd.reversible': true,
        'atd.rollback_uri': `${baseUrl}/.well-known/atd/rollback`,
        'atd.ttl': 3600,
        'atd.target': 'router-07',
      },
    })
    const end = planner.claims(wid, 'atd:workflow_complete', [act.jti], {
      ext: { 'atd.terminal_status': 'success' },
    })
    const signed = [planner.sign(plan), router.sign(act), router.sign(seal), planner.sign(end)]
    // In any order: what follows waits for what it follows.
    const answers = await send([...signed].reverse())
    expect(codes(answers)).toEqual(['accepted', 'accepted', 'accepted', 'accepted'])

    const rows = await rowsOf(wid)
    expect(rows.map(({ token }) => parseClaims(unverifiedPayload(token)).iss)).toEqual([
      at.house.id,
      planner.id,
      planner.id,
      router.id,
      router.id,
      planner.id,
      at.house.id,
    ])
    expect(rows.slice(2, 6).map(({ token }) => token)).toEqual(signed)
    const run = await runOf(wid, (now) => ({
      state: now.state,
      by: now.start?.by,
      name: now.graph.graph.name,
      steps: [...now.visits.values()].map(({ state }) => state.status),
      checkpoint: now.checkpoints.get(seal.jti)?.agent,
    }))
    expect(run).toMatchObject({
      state: { status: 'ended', terminal: 'success' },
      by: `agent:${planner.id}`,
      name: 'nightly audit (reported)',
      steps: ['done', 'done'],
      checkpoint: router.id,
    })
    expect(await at.house.store.runs.get(runIdOf(wid))).toMatchObject({ terminal: 'success', nodeCount: 2 })
    expect(await at.house.ports.tokenHolds(runIdOf(wid), seal.jti)).toBe(true)

    const { keys } = at.house
    const heads = await at.house.store.ledger.heads(runIdOf(wid))
    const ledger = { wid, rows, heads, keys: keys.keys }
    const agents = new Map([
      [planner.id, await keysOf(planner)],
      [router.id, await keysOf(router)],
    ])
    expect(await verifyLedgerNode(ledger, { agents })).toMatchObject({ holds: true, tokens: 7 })
    expect(await verifyLedgerNode(ledger)).toMatchObject({
      holds: false,
      failure: { seq: 2, code: 'ect_key_unknown' },
    })
    const exported = await getExport(
      new Request('http://localhost:3998/x', { headers: { cookie: ada.cookie } }),
      { params: Promise.resolve({ run: runIdOf(wid) }) },
    )
    const bundle = new Uint8Array(await exported.arrayBuffer())
    expect(await verifyBundle(bundle)).toMatchObject({ holds: true, tokens: 7 })
    const told = await ada.ask<RunKeys>(getRunKeys, 'GET', { params: { run: runIdOf(wid) } })
    expect(told.body.agents.map(({ id }) => id).sort()).toEqual([planner.id, router.id])

    const { graph } = await at.house.graphOf(
      (await at.house.store.ledger.header(runIdOf(wid)))?.version as string,
    )
    const fold = new RunFold(graph)
    expect(fold.add(rows.slice(0, 3))).toBe(true)
    const early = fold.frame
    fold.add(rows)
    const words = (frame: typeof early) =>
      [...frame.nodes.values()].map(({ label, word, agent }) => [label, word, agent])
    expect(words(early)).toEqual([['plan_change', 'running', planner.id]])
    expect(words(fold.frame)).toEqual([
      ['plan_change', 'done', planner.id],
      ['update_bgp', 'done', router.id],
    ])
    expect(words(fold.at(3).frame)).toEqual(words(early))
    expect(fold.at(3).frame.edges.size).toBe(0)
    expect([...fold.frame.edges.values()].map(({ from, to }) => [from, to])).toEqual([[plan.jti, act.jti]])
    expect(fold.rows.map(({ who, node }) => [who, node])).toEqual([
      [`agent:${planner.id}`, undefined],
      [planner.id, undefined],
      [planner.id, plan.jti],
      [router.id, act.jti],
      [router.id, act.jti],
      [planner.id, act.jti],
      ['engine', undefined],
    ])
    expect(fold.timeline.transitions.map(({ node, from }) => [node, from?.node])).toEqual([
      [plan.jti, undefined],
      [act.jti, plan.jti],
    ])
    expect(fold.timeline.lanes('agent').map(({ label }) => label)).toEqual(['planner', 'router'])
    const active = await ada.ask<AgentActivity>(getAgentActivity, 'GET', {
      query: `?id=${encodeURIComponent(router.id)}`,
    })
    expect(active.body).toMatchObject({
      steps: [{ label: 'update_bgp', word: 'done', workflow: 'nightly audit (reported)' }],
      runs: [{ id: runIdOf(wid), part: 'reports' }],
    })

    const swapped = new Map([...agents, [planner.id, await keysOf(router)]])
    expect(await verifyLedgerNode(ledger, { agents: swapped })).toMatchObject({ holds: false })
  })

  it('gives the same token its first answer, and another token of the same id none', async () => {
    const { wid, start, answers } = await begun()
    const again = await send([planner.sign(start)])
    expect(codes(again)).toEqual(['ect_duplicate_jti'])
    const [row] = (await rowsOf(wid)).slice(1)
    expect(await send([row?.token as string])).toEqual(answers)
    expect(await rowsOf(wid)).toHaveLength(2)
  })

  it('takes tokens of whoever was handed work, and of nobody else', async () => {
    const { wid, start } = await begun()
    const report = (agent: Agent) => agent.sign(agent.claims(wid, 'act', [start.jti]))
    expect(codes(await send([report(router), report(stranger)]))).toEqual(['accepted', 'agent_outside_run'])
    const nowhere = stranger.sign(stranger.claims(randomUUID(), 'act', []))
    const derived = planner.claims('00000000-0000-8000-8000-000000000001', 'atd:workflow_start', [])
    expect(codes(await send([nowhere, planner.sign(derived)]))).toEqual([
      'agent_outside_run',
      'ect_claim_invalid',
    ])
  })

  it('refuses what does not form a DAG, each token with its reason', async () => {
    const { wid, start } = await begun()
    const unknown = planner.claims(wid, 'a', [randomUUID()])
    const early = planner.claims(wid, 'b', [start.jti], { iat: start.iat - 60, exp: start.iat + 600 })
    const one = planner.claims(wid, 'c', [])
    const two = planner.claims(wid, 'd', [one.jti])
    one.par = [two.jti]
    const self = planner.claims(wid, 'e', [])
    self.par = [self.jti]
    const answers = await send([unknown, early, one, two, self].map((claims) => planner.sign(claims)))
    expect(codes(answers)).toEqual([
      'ect_parent_unknown',
      'ect_parent_later',
      'ect_cycle',
      'ect_cycle',
      'ect_cycle',
    ])
    expect(answers[0]).toMatchObject({
      jti: unknown.jti,
      detail: expect.stringContaining('is not in the ledger'),
    })
    expect(await rowsOf(wid)).toHaveLength(2)
  })

  it('follows tokens of another run of the same agent where the link is named, and then still verifies', async () => {
    const first = await begun()
    const second = await begun()
    const across = planner.sign(planner.claims(second.wid, 'go_on', [first.start.jti]))
    expect(codes(await send([across]))).toEqual(['ect_parent_unknown'])
    expect(codes(await send([across], { links: { [first.start.jti]: first.wid } }))).toEqual(['accepted'])
    const rows = await rowsOf(second.wid)
    const agents = new Map([[planner.id, await keysOf(planner)]])
    const ledger = { wid: second.wid, rows, heads: [], keys: at.house.keys.keys }
    expect(await verifyLedgerNode(ledger, { agents })).toMatchObject({ holds: true, tokens: 4 })
    const foreign = stranger.claims(randomUUID(), 'atd:workflow_start', [])
    expect(codes(await send([stranger.sign(foreign)]))).toEqual(['accepted'])
    const notHis = planner.sign(planner.claims(second.wid, 'steal', [foreign.jti]))
    expect(codes(await send([notHis], { links: { [foreign.jti]: foreign.wid } }))).toEqual([
      'ect_parent_unknown',
    ])
  })

  it('refuses forged, stale, misdirected and shapeless tokens, and a checkpoint that leads elsewhere', async () => {
    const { wid, start } = await begun()
    const claims = (more: Partial<Claims>) => planner.claims(wid, 'act', [start.jti], more)
    const iat = start.iat - 1_000
    const elsewhere = planner.claims(wid, 'atd:checkpoint', [start.jti], {
      out_hash: hashJson('x'),
      ext: {
        'atd.reversible': true,
        'atd.rollback_uri': 'http://169.254.169.254/.well-known/atd/rollback',
        'atd.ttl': 60,
      },
    })
    const answers = await send([
      router.sign(claims({})),
      planner.sign(claims({ iat, exp: iat + 600 })),
      planner.sign(claims({ aud: 'spiffe://elsewhere.example/x' })),
      'not a token',
      planner.sign(elsewhere),
      planner.sign(planner.claims(wid, 'atd:checkpoint', [start.jti])),
    ])
    expect(codes(answers)).toEqual([
      'ect_key_unknown',
      'ect_too_old',
      'ect_audience',
      'ect_malformed',
      'url_refused',
      'ect_claim_invalid',
    ])
  })
})

describe('what a draft asks of an act', () => {
  it('must be in its token, and the refusal names what is not', async () => {
    const { wid, start } = await begun()
    const sealed = {
      'atd.reversible': true,
      'atd.rollback_uri': `${baseUrl}/.well-known/atd/rollback`,
      'atd.ttl': 60,
    }
    const said = (act: string, ext: JsonObject, more: Partial<Claims> = {}) =>
      planner.sign(planner.claims(wid, act, [start.jti], { ext, ...more }))
    const state = { out_hash: hashJson('x') }
    const { 'atd.reversible': _, ...undeclared } = sealed
    const cases: [string, RegExp][] = [
      [said('atd:checkpoint', undeclared, state), /has no usable reversible$/],
      [said('checkpoint', { ...sealed, 'atd.ttl': 'a day' }, state), /has no usable ttl$/],
      [said('atd:checkpoint', sealed), /has no usable out_hash$/],
      [
        said('atd:error', { 'atd.severity': 'dreadful' }),
        /has no severity of info, warning, error and critical$/,
      ],
      [
        said('atd:rollback_result', { 'atd.status': 'completed' }),
        /does not say the status of a checkpoint$/,
      ],
    ]
    for (const [token, words] of cases) {
      const [refused] = await send([token])
      expect(refused).toMatchObject({ code: 'ect_claim_invalid', detail: expect.stringMatching(words) })
    }
    expect(codes(await send([said('atd:checkpoint', sealed, state)]))).toEqual(['accepted'])
  })
})

describe('a checkpoint that an agent reported', () => {
  it('is taken back at its agent, the latest first', async () => {
    const asked: { checkpoint_id: string }[] = []
    const server = http.createServer((request, response) => {
      let body = ''
      request.on('data', (part) => {
        body += part
      })
      request.on('end', () => {
        asked.push(JSON.parse(body))
        const { rollback_id, checkpoint_id } = JSON.parse(body)
        const answer = {
          rollback_id,
          checkpoint_id,
          status: 'completed',
          state_hash_after: hashJson('before'),
        }
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(answer))
      })
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const holder = new Agent('spiffe://lab.example/agent/holder', 'h1')
    await registerAgent(
      at.house.auth,
      { id: holder.id, name: 'holder', baseUrl: url, jwks: { keys: [holder.jwk] } },
      'person:ada',
    )
    const work = startWork(at.house, 'test worker')
    try {
      const wid = randomUUID()
      const start = holder.claims(wid, 'atd:workflow_start', [])
      const step = holder.claims(wid, 'update_bgp', [start.jti])
      const seal = (hash: string) =>
        holder.claims(wid, 'atd:checkpoint', [step.jti], {
          out_hash: hash,
          ext: {
            'atd.reversible': true,
            'atd.rollback_uri': `${url}/.well-known/atd/rollback`,
            'atd.ttl': 3600,
          },
        })
      const [first, second] = [seal(hashJson('before')), seal(hashJson('before'))]
      const done = holder.claims(wid, 'update_bgp_complete', [step.jti])
      const sent = [start, step, first, second, done].map((claims) => holder.sign(claims))
      expect(codes(await send(sent, { by: holder }))).toEqual(Array(5).fill('accepted'))
      const run = runIdOf(wid)
      const plan = await makePlan(at.house.ports, run, { node: step.jti, mayCoordinate: true })
      expect(plan.steps.map(({ fate, agent }) => [fate, agent])).toEqual([
        ['restored', holder.id],
        ['restored', holder.id],
      ])
      const rollback = prefixed('rb', randomUUID())
      await executePlan(at.house.ports, run, plan, { rollback, reason: 'No', by: 'person:ada' }, {})
      const over = () => runOf(wid, (now) => now.rollbacks.get(rollback)?.status)
      await expect.poll(over).toBe('completed')
      expect(await runOf(wid, (now) => now.visits.get(step.jti)?.state.status)).toBe('rolled_back')
      expect(asked.map(({ checkpoint_id }) => checkpoint_id)).toEqual([second.jti, first.jti])
    } finally {
      await work.stop()
      server.close()
    }
  })
})

describe('who sends', () => {
  it('proves itself by a token of its own, used once, or an API token of that scope', async () => {
    const { wid, start } = await begun()
    const token = () => planner.sign(planner.claims(wid, 'act', [start.jti]))
    const body = { tokens: [token()] }
    const field = stranger.sender()
    const relayed = await ask<Reports>(POST, 'POST', { body, headers: { 'execution-context': field } })
    expect(codes(relayed.body.items)).toEqual(['accepted'])
    const replayed = await ask(POST, 'POST', { body, headers: { 'execution-context': field } })
    expect([replayed.status, replayed.body.code]).toEqual([403, 'ect_replayed'])
    const forged = new Agent(planner.id, 'p1').sender()
    const refused = await ask(POST, 'POST', { body, headers: { 'execution-context': forged } })
    expect([refused.status, refused.body.code]).toEqual([403, 'ect_signature_invalid'])

    const made = (scope: string) =>
      ada.ask<NewApiToken>(POST, 'POST', { body: { name: scope.replace(':', ' '), scopes: [scope] } })
    const withToken = async (scope: string) => {
      const { secret } = (await made(scope)).body
      const headers = { authorization: `Bearer ${secret}` }
      return ask<Reports & { code?: string }>(POST, 'POST', { body: { tokens: [token()] }, headers })
    }
    expect(codes((await withToken('tokens:report')).body.items)).toEqual(['accepted'])
    const wrong = await withToken('runs:read')
    expect([wrong.status, wrong.body.code]).toEqual([403, 'scope_missing'])
  })

  it('may report the token of the field itself, again and again with one answer', async () => {
    const { wid, start } = await begun()
    const token = planner.sign(planner.claims(wid, 'act', [start.jti]))
    const alone = () => ask<Reports>(POST, 'POST', { headers: { 'execution-context': token } })
    const first: Answered<Reports> = await alone()
    expect(codes(first.body.items)).toEqual(['accepted'])
    expect((await alone()).body).toEqual(first.body)
  })

  it('sends a bounded number of tokens at once', async () => {
    const refused = await ask(POST, 'POST', {
      body: { tokens: Array(101).fill('x') },
      headers: { 'execution-context': planner.sender() },
    })
    expect([refused.status, refused.body.code]).toEqual([400, 'bad_request'])
    expect(refused.body.detail).toContain('{"tokens": […]} was expected, with 1 to 100 compact tokens')
  })

  it('cannot use a token that has joined to prove who it is', async () => {
    const { wid, start } = await begun()
    const token = planner.sign(planner.claims(wid, 'act', [start.jti]))
    await send([token])
    const replayed = await ask(POST, 'POST', {
      body: { tokens: [planner.sign(planner.claims(wid, 'more', [start.jti]))] },
      headers: { 'execution-context': token },
    })
    expect(replayed.body.code).toBe('ect_replayed')
  })
})

describe('a run of ours', () => {
  const text = JSON.stringify({
    wf_id: 'with-an-agent',
    nodes: [{ id: 'a', kind: 'task', label: 'A', config: { role: 'operator', instructions: 'Do it' } }],
    edges: [],
  })

  it('takes tokens of agents that claimed a task, and nothing of its own changes by them', async () => {
    const { record } = await importWorkflow(at.house, text, { filename: 'w.json', by: 'person:ada' })
    const run = await startRun(at.house, {
      version: record.version,
      input: {},
      by: 'person:ada',
      dryRun: false,
    })
    const wid = run.slice(4).replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5')
    const [first] = await rowsOf(wid)
    const start = first?.jti as string
    const evil = router.claims(wid, 'hp:task_complete', [start], {
      out_hash: hashJson('x'),
      ext: { 'hp.node': 'a', 'hp.visit': 1, 'hp.attempt': 1, 'hp.linked': [randomUUID()] },
    })
    expect(codes(await send([router.sign(evil)]))).toEqual(['agent_outside_run'])
    const action = {
      ...{ hash: hashJson('a'), consequence: 'read_only' as const, target: 'a' },
      ...{ sentence: 'Does it', reads: [] },
    }
    await at.house.book.execute(run, { type: 'offer', node: 'a', visit: 1, action })
    await at.house.book.execute(run, { type: 'claim', node: 'a', visit: 1, agent: router.id, claimS: 60 })
    const before = await runOf(wid, (now) => structuredClone([...now.visits]))
    expect(codes(await send([router.sign(evil)]))).toEqual(['accepted'])
    expect(await runOf(wid, (now) => [...now.visits])).toEqual(before)
    // What another process folds anew is the same.
    at.house.book.forget(run)
    expect(await runOf(wid, (now) => [...now.visits])).toEqual(before)
    // A call that brings a token: it joins, and one that does not verify is refused with the call.
    const beat = (token: string) =>
      ada.ask(postHeartbeat, 'POST', {
        params: { run, node: 'a' },
        body: { agent: router.id },
        headers: { 'execution-context': token },
      })
    const sub = router.claims(wid, 'sub_step', [start])
    expect((await beat(router.sign(sub))).status).toBe(200)
    expect((await rowsOf(wid)).map(({ jti }) => jti)).toContain(sub.jti)
    const forged = await beat(new Agent(router.id, 'r1').sign(router.claims(wid, 'sub_step', [start])))
    expect([forged.status, forged.body.code]).toEqual([403, 'ect_signature_invalid'])
    const lost = await beat(router.sign(router.claims(wid, 'sub_step', [randomUUID()])))
    expect([lost.status, lost.body.code]).toEqual([403, 'ect_parent_unknown'])
    const apart = stranger.claims(wid, 'sub_step', [start])
    expect((await beat(stranger.sign(apart))).status).toBe(200)
    expect((await rowsOf(wid)).map(({ jti }) => jti)).not.toContain(apart.jti)
  })
})

describe('keys', () => {
  it('that are not known are fetched from where the agent publishes them, seldom', async () => {
    const changing = new Agent('spiffe://lab.example/agent/changing', 'c1')
    const next = new Agent(changing.id, 'c2')
    let published: object[] = [changing.jwk]
    let asked = 0
    const server = http.createServer((_request, response) => {
      asked += 1
      response.end(JSON.stringify({ keys: published }))
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    try {
      await registerAgent(
        at.house.auth,
        {
          ...{ id: changing.id, name: 'changing', baseUrl: url, jwks: { keys: published } },
          jwksUrl: `${url}/.well-known/jwks.json`,
        },
        'person:ada',
      )
      const start = changing.claims(randomUUID(), 'atd:workflow_start', [])
      expect(codes(await send([changing.sign(start)]))).toEqual(['accepted'])
      published = [next.jwk]
      const follow = (agent: Agent) => agent.sign(agent.claims(start.wid, 'act', [start.jti]))
      expect(codes(await send([follow(next)]))).toEqual(['accepted'])
      expect(asked).toBe(1)
      // The old one is published no more: it signs nothing new, and what it signed holds.
      expect(codes(await send([follow(changing)]))).toEqual(['ect_key_revoked'])
      expect(await at.house.ports.tokenHolds(runIdOf(start.wid), start.jti)).toBe(true)
      const third = new Agent(changing.id, 'c3')
      expect(codes(await send([follow(third), follow(third)]))).toEqual([
        'ect_key_unknown',
        'ect_key_unknown',
      ])
      expect(asked).toBe(1)

      const revoked = await ada.ask(revokeAgentKey, 'POST', { body: { id: changing.id, kid: 'c2' } })
      expect(revoked.status).toBe(200)
      expect(codes(await send([follow(next)]))).toEqual(['ect_key_revoked'])
      const held = (await rowsOf(start.wid)).at(-1)?.jti as string
      expect(await at.house.ports.tokenHolds(runIdOf(start.wid), held)).toBe(true)
      expect((await at.house.agents.get(changing.id))?.heardAt).toBeGreaterThan(Date.now() - 60_000)
    } finally {
      server.close()
    }
  })
})
