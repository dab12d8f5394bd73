import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hashJson, sha256 } from '@/lib/base/hash'
import type { Json, JsonObject } from '@/lib/base/json'
import { actionFor, described, effectsWith, failureOf, nodeOf, runnerFor } from './fixtures'
import type { Effects, SignedAnswer, Snapshot } from './runner'

const id = 'spiffe://example.com/agent/edge-router-07'
const hashOne = sha256('one')
const hashTwo = sha256('two')
const runner = runnerFor('agent')
const node = nodeOf('agent', { agent: id, operation: 'set_qos_policy', input: { queue: 'voice' } })
const back = {
  id: 'rb_1',
  reason: 'It broke',
  checkpointId: 'c1',
  requestToken: 'rollback.token.sig',
  requestJti: 'j',
  deadlineAt: 1e15,
  wid: 'w',
  scope: 'single' as const,
}

interface Seen {
  path: string
  token: string | undefined
  body: Record<string, Json>
}

let server: http.Server
let baseUrl: string
let seen: Seen[]
let answers: Record<string, { status?: number; body: unknown; token?: string } | 'cut'>
let tokens: { aud: string; act: string; par: string[]; ext: JsonObject }[]

beforeEach(async () => {
  seen = []
  tokens = []
  server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString())
      const path = request.url ?? ''
      seen.push({ path, token: request.headers['execution-context'] as string | undefined, body })
      const said =
        answers[path.endsWith('/prepare') ? 'prepare' : path.endsWith('/rollback') ? 'rollback' : body.phase]
      if (said === undefined || said === 'cut') return void response.destroy()
      if (said.token) response.setHeader('execution-context', said.token)
      response.writeHead(said.status ?? 200, { 'content-type': 'application/json' })
      response.end(typeof said.body === 'string' ? said.body : JSON.stringify(said.body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/router`
  answers = {
    describe: {
      body: {
        sentence: 'Give the voice queue priority on edge-router-07',
        target: 'edge-router-07',
        consequence: 'reversible',
        undo_sentence: 'Put the former policy back',
        preview: { title: 'qos.conf', before: 'a', after: 'b' },
      },
    },
    checkpoint: {
      body: {
        checkpoint_id: 'their-1',
        out_hash: hashOne,
        ttl: 3_600,
        rollback_uri: `${baseUrl}/.well-known/atd/rollback`,
        reversible: true,
        target: 'edge-router-07',
        description: 'qos.conf',
      },
    },
    execute: { body: { output: { applied: true }, label: 'ok' } },
    probe: { body: { outcome: 'took_effect' } },
    state: { body: { state_hash: hashTwo } },
    rollback: {
      body: {
        status: 'completed',
        state_hash_before: hashTwo,
        state_hash_after: hashOne,
        result_ect: 'a.b.c',
      },
    },
  }
})

afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

function effects(more: Partial<Effects> = {}): Effects {
  return effectsWith({
    runId: 'run_1',
    follows: ['task-jti'],
    agents: {
      find: async (asked) => (asked === id ? { id, name: 'edge-router-07', baseUrl } : undefined),
      requestToken: async (claims) => {
        tokens.push(claims)
        return 'request.token.sig'
      },
    },
    ...more,
  })
}

async function snapshotFor(
  given = effects(),
): Promise<{ action: Awaited<ReturnType<typeof actionFor>>; snapshot: Snapshot }> {
  const action = await actionFor(node, given)
  const snapshot = await runner.snapshot?.(action, given, 'c1')
  if (!snapshot) throw new Error('No snapshot')
  return { action, snapshot }
}

describe('the whole way', () => {
  test('describes, checkpoints, executes, looks and takes back', async () => {
    const given = effects()
    const { action, preview } = await described(node, given)
    expect(action).toMatchObject({
      consequence: 'reversible',
      sentence: 'Give the voice queue priority on edge-router-07',
      target: 'edge-router-07',
      undo: 'remote',
      undoSentence: 'Put the former policy back',
    })
    expect(preview).toEqual({ show: 'diff', title: 'qos.conf', before: 'a', after: 'b' })

    const snapshot = await runner.snapshot?.(action, given, 'c1')
    expect(snapshot).toMatchObject({
      undo: 'remote',
      ttlS: 3_600,
      rollbackUri: `${baseUrl}/.well-known/atd/rollback`,
      hash: hashJson(snapshot?.state),
    })
    expect(await runner.perform(action, given, snapshot)).toEqual({ output: { applied: true }, label: 'ok' })
    if (!snapshot) throw new Error('No snapshot')
    expect(await runner.probe?.(action, snapshot, given)).toBe('took_effect')
    expect((await runner.stateHash?.(action, snapshot, given))?.hash).not.toBe(snapshot.hash)

    const undone = await runner.undo?.(action, snapshot, given, back)
    expect(undone).toMatchObject({ status: 'completed', stateHashAfter: snapshot.hash })
    // Nobody's signature can be checked here, so nothing is kept as one.
    expect(undone?.evidence).toBeUndefined()
    expect(undone?.stateHashBefore).toBe((await runner.stateHash?.(action, snapshot, given))?.hash)
    // It does not show what it holds: only it knows.
    expect(await runner.undoPreview?.(action, snapshot, given)).toEqual({ of: 'agent', agent: id })

    expect(seen.map((one) => one.body.phase ?? 'rollback')).toEqual([
      'describe',
      'checkpoint',
      'execute',
      'probe',
      'state',
      'rollback',
      'state',
      'state',
    ])
    expect(seen[2]).toMatchObject({
      path: '/router/.well-known/holdpoint/task',
      token: 'request.token.sig',
      body: {
        phase: 'execute',
        run: 'run_1',
        node: 'n1',
        visit: 1,
        operation: 'set_qos_policy',
        input: { queue: 'voice' },
        checkpoint_id: 'their-1',
        idempotency_key: 'run_1/n1/1/1',
      },
    })
    expect(seen[5]).toEqual({
      path: '/router/.well-known/atd/rollback',
      token: 'rollback.token.sig',
      body: {
        rollback_id: 'rb_1',
        checkpoint_id: 'their-1',
        reason: 'It broke',
        cascade: false,
        scope: 'single',
      },
    })
  })

  test('says of an answer that somebody else’s change was undone, where it shows', async () => {
    const { action, snapshot } = await snapshotFor()
    const said = async (expectedStates?: string[]) =>
      (
        await runner.undo?.(action, snapshot, effects(), {
          ...back,
          ...(expectedStates && { expectedStates }),
        })
      )?.description
    const words = 'The agent edge-router-07 answered the rollback: completed'
    expect(await said()).toBe(words)
    expect(await said([hashTwo])).toBe(words)
    expect(await said([sha256('what the run left')])).toBe(
      `${words}; just before, it was not as this run left it: somebody else changed it after the vote, and that was undone, too`,
    )
    answers.rollback = {
      body: { status: 'completed', state_hash_before: hashOne, state_hash_after: hashOne },
    }
    expect(await said([sha256('what the run left')]), 'as before already').toBe(words)
    answers.rollback = { body: { status: 'failed', state_hash_before: hashTwo } }
    expect(await said([sha256('what the run left')])).toBe(words.replace('completed', 'failed'))
  })

  test('binds each token to agent, phase and body', async () => {
    await actionFor(node, effects())
    expect(tokens[0]).toMatchObject({ aud: id, act: 'hp:agent_describe', par: ['task-jti'] })
    const { canonicalJson } = await import('@/lib/base/canonical-json')
    expect(tokens[0]?.ext['hp.body_hash']).toBe(sha256(canonicalJson(seen[0]?.body)))
  })

  test('asks nobody in a dry run', async () => {
    const dry = effects({ dryRun: true })
    const action = await actionFor(node, dry)
    expect((await runner.perform(action, dry)).output).toMatchObject({ dry_run: true })
    expect(seen).toEqual([])
  })

  test('gives the outputs of the steps before when no input is named', async () => {
    const action = await actionFor(nodeOf('agent', { agent: id }), effects())
    expect(action.do).toEqual({ agent: id, operation: 'Step one', input: { before: { answer: 42 } } })
  })
})

describe('who is asked', () => {
  test('only agents that are registered', async () => {
    const failure = await failureOf(
      described(nodeOf('agent', { agent: 'spiffe://example.com/agent/other' }), effects()),
    )
    expect(failure.code).toBe('agent_unknown')
    expect(failure.message).toContain('is not registered here')
  })

  test('takes its word that it only reads, and its author’s that it cannot be undone', async () => {
    answers.describe = { body: { sentence: 'Look', target: 'x', consequence: 'read_only' } }
    const looking = await actionFor(node, effects())
    expect(looking).toMatchObject({ consequence: 'read_only' })
    expect(looking.undo).toBeUndefined()
    answers.describe = { body: { sentence: 'Act', target: 'x', consequence: 'reversible' } }
    const final = await actionFor({ ...node, reversible: false }, effects())
    expect(final).toMatchObject({ consequence: 'irreversible' })
    expect(final.undo).toBeUndefined()
  })
})

describe('a hostile agent', () => {
  test('cannot hide words from people or write long ones', async () => {
    answers.describe = {
      body: {
        sentence: `Read\u0000 a\nlog\u202e\u200b ${'x'.repeat(5_000)}`,
        target: '\u001b[31mred',
        consequence: 'read_only',
      },
    }
    const action = await actionFor(node, effects())
    expect(action.sentence).toHaveLength(300)
    expect(action.sentence.startsWith('Read a log x')).toBe(true)
    expect(action.target).toBe('[31mred')
  })

  test.each([
    ['no JSON', 'hunter2 {', 'not_json'],
    ['another shape', { sentence: 1 }, 'agent_answer_invalid'],
    [
      'an unknown consequence',
      { sentence: 'a', target: 'b', consequence: 'harmless' },
      'agent_answer_invalid',
    ],
    [
      'an empty sentence',
      { sentence: '\u0000', target: 'b', consequence: 'read_only' },
      'agent_answer_invalid',
    ],
    ['a bottomless value', '['.repeat(50_000) + ']'.repeat(50_000), 'too_deep'],
  ])('is refused when it answers %s', async (_, body, code) => {
    answers.describe = { body }
    const failure = await failureOf(described(node, effects()))
    expect(failure.code).toBe(code)
    expect(failure.message).not.toContain('hunter2')
  })

  test('is refused when it answers more than 1 MiB', async () => {
    answers.describe = { body: JSON.stringify('a'.repeat(1_100_000)) }
    expect((await failureOf(described(node, effects()))).code).toBe('answer_too_large')
  })

  test.each([
    'http://evil.example.com/.well-known/atd/rollback',
    'http://127.0.0.1:1/router/.well-known/atd/rollback',
    'BASE/other',
    'BASE/.well-known/atd/rollback?x=1',
    'BASE/.well-known/atd/../atd/rollback/..',
    'nonsense',
  ])('cannot send the rollback elsewhere: %s', async (uri) => {
    const said = answers.checkpoint as { body: JsonObject }
    said.body.rollback_uri = uri.replace('BASE', baseUrl)
    const failure = await failureOf(snapshotFor())
    expect(failure.code).toBe('url_refused')
    expect(failure.message).toContain('other than its registered one')
  })

  test('cannot send the rollback elsewhere through a sealed checkpoint either', async () => {
    const { action, snapshot } = await snapshotFor()
    const bent = {
      ...snapshot,
      state: { ...snapshot.state, rollback_uri: 'http://127.0.0.1:1/.well-known/atd/rollback' },
    }
    if (!runner.undo) throw new Error('No undo')
    expect((await failureOf(runner.undo(action, bent, effects(), back))).code).toBe('url_refused')
  })

  test('cannot withdraw a promise to undo between description and checkpoint', async () => {
    const said = answers.checkpoint as { body: JsonObject }
    said.body.reversible = false
    expect((await failureOf(snapshotFor())).code).toBe('agent_withdrew')
  })

  test('is not followed when it redirects', async () => {
    answers.execute = { status: 302, body: {} }
    const { action, snapshot } = await snapshotFor()
    expect(await failureOf(runner.perform(action, effects(), snapshot))).toMatchObject({
      code: 'agent_failed',
    })
  })
})

describe('when it fails', () => {
  test('passes on the agent’s own reason', async () => {
    answers.execute = {
      status: 409,
      body: {
        code: 'router_busy',
        detail: 'Another change\nis under way',
        error_type: 'resource_exhausted',
        severity: 'critical',
        retriable: true,
      },
    }
    const { action } = await snapshotFor()
    const failure = await failureOf(runner.perform(action, effects()))
    expect(failure).toMatchObject({
      code: 'router_busy',
      errorType: 'resource_exhausted',
      severity: 'critical',
      retriable: true,
      outcomeUnknown: false,
    })
    expect(failure.message).toBe('The agent edge-router-07 refused "execute": Another change is under way')
  })

  test('a lost answer to "execute" leaves the outcome open, one to "describe" does not', async () => {
    const { action } = await snapshotFor()
    answers.execute = 'cut'
    expect(await failureOf(runner.perform(action, effects()))).toMatchObject({
      code: 'answer_lost',
      outcomeUnknown: true,
      retriable: false,
    })
    answers.describe = 'cut'
    expect(await failureOf(described(node, effects()))).toMatchObject({
      code: 'answer_lost',
      outcomeUnknown: false,
      retriable: true,
    })
  })

  test('an answer to "execute" that cannot be read, or comes from a gateway, leaves it open too', async () => {
    const { action } = await snapshotFor()
    answers.execute = { body: 'done!' }
    expect(await failureOf(runner.perform(action, effects()))).toMatchObject({ outcomeUnknown: true })
    answers.execute = { status: 502, body: '<html>' }
    expect(await failureOf(runner.perform(action, effects()))).toMatchObject({
      code: 'agent_failed',
      outcomeUnknown: true,
      retriable: false,
    })
  })

  test('an agent that is away may be called again', async () => {
    const { action, snapshot } = await snapshotFor()
    await new Promise((resolve) => {
      server.close(resolve)
      server.closeAllConnections()
    })
    expect(await failureOf(runner.perform(action, effects()))).toMatchObject({
      code: 'unreachable',
      retriable: true,
      outcomeUnknown: false,
    })
    expect(await runner.probe?.(action, snapshot, effects())).toBe('unknown')
  })

  test('a rollback may be asked again, and its status is the agent’s', async () => {
    const { action, snapshot } = await snapshotFor()
    if (!runner.undo) throw new Error('No undo')
    answers.rollback = 'cut'
    expect(await failureOf(runner.undo(action, snapshot, effects(), back))).toMatchObject({
      retriable: true,
      outcomeUnknown: false,
    })
    answers.rollback = { body: { status: 'partial', description: 'One of two ports' } }
    expect(await runner.undo(action, snapshot, effects(), back)).toMatchObject({
      status: 'partial',
      description: 'One of two ports',
    })
  })
})

describe('a rollback in two phases', () => {
  const urn = 'urn:uuid:0b54f1f6-6a0e-4c1e-9d2a-0c1e5b1dc2e1'
  const two = { ...back, id: `rb_${urn.slice(9)}`, scope: 'sub_dag' as const }
  const named = { rollback_id: urn, checkpoint_id: 'their-1' }

  /** An agent that speaks two phases; `signed`: what its own key signed, by token. */
  function speaking(signed: Record<string, Partial<SignedAnswer>>): Effects {
    const { agents } = effects()
    return effects({
      agents: {
        ...agents,
        find: async (asked) =>
          asked === id
            ? { id, name: 'edge-router-07', baseUrl, protocols: ['holdpoint', 'cascade'] }
            : undefined,
        signedBy: async (_agent, token) => {
          const known = signed[token]
          return known && { wid: 'w', par: ['j'], ...known }
        },
      },
    })
  }

  test('asks whether it can, word for word as the draft has it', async () => {
    const { action, snapshot } = await snapshotFor()
    const body = JSON.stringify({ ...named, status: 'prepared' })
    answers.prepare = { body, token: 'theirs' }
    const given = speaking({ theirs: { outHash: sha256(body) } })
    expect(await runner.prepare?.(action, snapshot, given, two)).toMatchObject({ vote: 'prepared' })
    expect(seen.at(-1)).toEqual({
      path: '/router/.well-known/cascade/rollback/prepare',
      token: 'rollback.token.sig',
      body: { ...named, scope: 'sub_dag' },
    })
  })

  test('takes its reason why it cannot, and the rollback in the way', async () => {
    const { action, snapshot } = await snapshotFor()
    const said = { status: 'cannot_prepare', reason: 'conflict', conflicting_rollback_id: 'urn:uuid:other' }
    const body = JSON.stringify({ ...named, ...said })
    answers.prepare = { body, token: 'theirs' }
    const given = speaking({ theirs: { outHash: sha256(body) } })
    expect(await runner.prepare?.(action, snapshot, given, two)).toMatchObject({
      vote: 'cannot_prepare',
      reason: 'conflict',
      conflict: 'urn:uuid:other',
    })
  })

  test.each([
    ['no signature', undefined, {}],
    ['the signature of another', 'another', {}],
    ['a signature for another request', 'theirs', { par: ['k'] }],
    ['a signature for another run', 'theirs', { wid: 'v' }],
    ['a signature for other octets', 'theirs', { outHash: hashOne }],
  ])('believes no vote with %s', async (_what, token, more) => {
    const { action, snapshot } = await snapshotFor()
    const body = JSON.stringify({ ...named, status: 'prepared' })
    answers.prepare = { body, ...(token && { token }) }
    const given = speaking({ theirs: { outHash: sha256(body), ...more } })
    if (!runner.prepare) throw new Error('No prepare')
    expect(await failureOf(runner.prepare(action, snapshot, given, two))).toMatchObject({
      code: 'agent_answer_unsigned',
      retriable: true,
    })
  })

  test('believes no vote on another checkpoint', async () => {
    const { action, snapshot } = await snapshotFor()
    const body = JSON.stringify({ ...named, checkpoint_id: 'their-2', status: 'prepared' })
    answers.prepare = { body, token: 'theirs' }
    if (!runner.prepare) throw new Error('No prepare')
    const given = speaking({ theirs: { outHash: sha256(body) } })
    expect((await failureOf(runner.prepare(action, snapshot, given, two))).code).toBe('agent_answer_invalid')
  })

  test('leaves an agent of one phase alone', async () => {
    const { action, snapshot } = await snapshotFor()
    const before = seen.length
    expect(await runner.prepare?.(action, snapshot, effects(), two)).toBeUndefined()
    expect(seen.length).toBe(before)
  })

  test('carries out, and keeps the answer as the agent signed it', async () => {
    const { action, snapshot } = await snapshotFor()
    const said = { ...named, status: 'completed', state_hash_after: hashOne, result_ect: 'their.result' }
    const body = JSON.stringify(said)
    answers.rollback = { body, token: 'theirs' }
    const kept = await runner.undo?.(
      action,
      snapshot,
      speaking({ 'their.result': { status: 'completed' } }),
      two,
    )
    expect(seen.at(-1)).toMatchObject({
      path: '/router/.well-known/cascade/rollback',
      body: { ...named, phase: 'execute' },
    })
    expect(kept).toMatchObject({
      stateHashAfter: snapshot.hash,
      evidence: { agent: id, request: 'j', token: 'their.result' },
    })
    const whole = await runner.undo?.(action, snapshot, speaking({ theirs: { outHash: sha256(body) } }), two)
    expect(whole?.evidence).toEqual({ agent: id, request: 'j', token: 'theirs', body })
    if (!runner.undo) throw new Error('No undo')
    // A result that says something else than the answer is none.
    const bent = speaking({ 'their.result': { status: 'failed' } })
    expect((await failureOf(runner.undo(action, snapshot, bent, two))).code).toBe('agent_answer_unsigned')
  })
})
