import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '@/lib/base/json'
import { failureOf } from '@/lib/runners/fixtures'
import { EffectFailed, type ModelCall } from '@/lib/runners/runner'
import type { Backend } from '@/lib/workflow/graph'
import { frame, json, modelServer, socketServer } from './fixtures'
import { installationBackends } from './installation-backends'
import { type ConfiguredBackend, openModels } from './models'
import { ScriptPositions } from './scripted-backend'

const environment: Record<string, string> = { KEY: 'sk-hush', TOKEN: 't0ken' }

function opened(backends: ConfiguredBackend[], more: Partial<Parameters<typeof openModels>[0]> = {}) {
  return openModels({
    backends,
    installationBackends: [],
    env: (name) => environment[name],
    secret: async () => undefined,
    read: async () => undefined,
    spend: () => undefined,
    run: 'run_1',
    positions: new ScriptPositions(),
    ...more,
  })
}

const call: ModelCall = {
  backend: 'm',
  messages: [
    { role: 'system', text: 'be brief' },
    { role: 'user', text: 'hello' },
  ],
  maxTokens: 64,
}
const never = new AbortController().signal

const chatAnswer = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'yo' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 2 },
}

describe('providers, in the words of their own APIs', () => {
  it.each<[Backend['provider'], string, unknown, string, string]>([
    ['openai', '/v1/chat/completions', chatAnswer, 'authorization', 'Bearer sk-hush'],
    ['openai-compatible', '/v1/chat/completions', chatAnswer, 'authorization', 'Bearer sk-hush'],
    [
      'anthropic',
      '/v1/messages',
      {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm-1',
        content: [{ type: 'text', text: 'yo' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 5, output_tokens: 2 },
      },
      'x-api-key',
      'sk-hush',
    ],
    [
      'gemini',
      '/v1beta/models/m-1:generateContent',
      {
        candidates: [{ content: { role: 'model', parts: [{ text: 'yo' }] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 },
      },
      'x-goog-api-key',
      'sk-hush',
    ],
  ])('%s', async (provider, where, answer, header, value) => {
    const server = await modelServer(json(answer))
    const spent: number[] = []
    const models = opened([{ name: 'm', provider, model: 'm-1', apiKeyEnv: 'KEY', baseUrl: server.url }], {
      spend: (tokens) => void spent.push(tokens),
    })
    expect(await models.ask(call, never)).toEqual({
      text: 'yo',
      usage: { promptTokens: 5, completionTokens: 2 },
    })
    expect(spent).toEqual([0, 7])
    expect(server.seen).toHaveLength(1)
    expect(server.seen[0]).toMatchObject({ path: where })
    expect(server.seen[0]?.headers[header]).toBe(value)
    const sent = JSON.stringify(server.seen[0]?.body)
    for (const word of ['be brief', 'hello', '64']) expect(sent).toContain(word)
  })

  it.each([
    ['openai', { choices: [{ message: { content: 'local' } }], usage: {} }],
    ['openai-compatible', { choices: [{ message: { content: 'local' } }] }],
    [
      'anthropic',
      { content: [{ type: 'text', text: 'local' }], usage: { input_tokens: 1, output_tokens: 1 } },
    ],
    ['gemini', { candidates: [{ content: { parts: [{ text: 'local' }] } }] }],
  ] as const)('%s may answer with the bare minimum', async (provider, answer) => {
    const server = await modelServer(json(answer))
    const models = opened([{ name: 'm', provider, model: 'm', apiKeyEnv: 'KEY', baseUrl: server.url }])
    expect((await models.ask(call, never)).text).toBe('local')
  })

  it('a local server needs no key, and its address may carry the version already', async () => {
    const server = await modelServer(json(chatAnswer))
    const models = opened([
      { name: 'm', provider: 'openai-compatible', model: 'qwen3', baseUrl: `${server.url}/v1/` },
    ])
    expect((await models.ask(call, never)).text).toBe('yo')
    expect(server.seen[0]?.path).toBe('/v1/chat/completions')
    expect(server.seen[0]?.headers.authorization).toBeUndefined()
  })

  it('a schema is told to a backend that knows structured output, and its answer is given back as text', async () => {
    const text = '{"tier":"simple"}'
    const server = await modelServer(json({ choices: [{ message: { content: text } }] }))
    const models = opened([{ name: 'm', provider: 'openai-compatible', model: 'q', baseUrl: server.url }])
    const schema = { type: 'object', properties: { tier: { type: 'string' } } }
    expect((await models.ask({ ...call, schema }, never)).text).toBe(text)
    expect(server.seen[0]?.body.response_format).toMatchObject({
      type: 'json_schema',
      json_schema: { schema, strict: false },
    })
  })
})

describe('agentd’s own protocol', () => {
  const result = { content: 'ok', usage: { prompt_tokens: 3, completion_tokens: 1 } }

  it('over a Unix socket, in frames of a little-endian length', async () => {
    let asked: JsonObject = {}
    const at = await socketServer((request) => {
      asked = request
      return frame({ jsonrpc: '2.0', id: request.id, result })
    })
    const models = opened([{ name: 'm', provider: 'unix', path: at }])
    expect(await models.ask(call, never)).toEqual({
      text: 'ok',
      usage: { promptTokens: 3, completionTokens: 1 },
    })
    expect(asked).toMatchObject({
      jsonrpc: '2.0',
      method: 'complete',
      params: {
        model: 'fast',
        max_tokens: 64,
        messages: [{ role: 'system' }, { role: 'user', content: 'hello' }],
      },
    })
  })

  it('over HTTP, with a bearer token where there is one', async () => {
    const server = await modelServer(json({ jsonrpc: '2.0', id: 1, result }))
    environment.AGENTD_INTEL_HTTP_BEARER = 't0ken'
    const [backend] = installationBackends(undefined, (name) => environment[name], {
      intelHttp: `${server.url}/rpc`,
    })
    const models = opened([], { installationBackends: backend ? [backend] : [] })
    expect((await models.ask({ ...call, backend: 'default' }, never)).text).toBe('ok')
    expect(server.seen[0]).toMatchObject({ path: '/rpc', headers: { authorization: 'Bearer t0ken' } })
  })

  it.each<[string, Buffer | undefined, string, string]>([
    ['rubbish', frame('<html>'), 'answer_invalid', 'it is not JSON'],
    ['another shape', frame({ result: { text: 'x' } }), 'answer_invalid', 'not the JSON-RPC answer'],
    ['neither result nor error', frame({ jsonrpc: '2.0', id: 1 }), 'answer_invalid', 'neither a result nor'],
    ['an error', frame({ error: { code: -32000, message: 'hello sk-hush' } }), 'backend_refused', '-32000'],
    ['a frame of 3 GiB', Buffer.from([0, 0, 0, 0xc0, 1]), 'answer_invalid', 'larger than 8,388,608 bytes'],
  ])('%s over the socket is a failure with its reason', async (_what, sent, code, words) => {
    const at = await socketServer(() => sent)
    const failure = await failureOf(opened([{ name: 'm', provider: 'unix', path: at }]).ask(call, never))
    expect(failure).toMatchObject({ code, retriable: true })
    expect(failure.message).toContain(words)
    expect(failure.message).not.toContain('sk-hush')
  })

  it('a socket that is not there', async () => {
    const failure = await failureOf(
      opened([{ name: 'm', provider: 'unix', path: '/nowhere/intel.sock' }]).ask(call, never),
    )
    expect(failure).toMatchObject({ code: 'backend_unreachable', retriable: true })
    expect(failure.message).toContain('could not be reached: ENOENT')
  })
})

describe('what backends do wrong', () => {
  const compatible = (baseUrl: string): Backend => ({
    name: 'm',
    provider: 'openai-compatible',
    model: 'q',
    apiKeyEnv: 'KEY',
    baseUrl,
  })

  async function asked(answer: (response: ServerResponse) => void, timeoutMs?: number) {
    const server = await modelServer(answer)
    const failure = await failureOf(opened([compatible(server.url)], { timeoutMs }).ask(call, never))
    expect(failure.message).not.toContain('sk-hush')
    return { failure, calls: server.seen.length }
  }

  it('nobody listens', async () => {
    const failure = await failureOf(opened([compatible('http://127.0.0.1:1')]).ask(call, never))
    expect(failure).toMatchObject({ code: 'backend_unreachable', retriable: true })
    expect(failure.message).toContain('"m" could not be reached')
  })

  it('it breaks off in the middle', async () => {
    const { failure } = await asked((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' })
      response.write('{"choices"')
      setImmediate(() => response.destroy())
    })
    expect(failure.code).toBe('backend_unreachable')
  })

  it.each([
    ['is no JSON', '<html>hello</html>'],
    ['has another shape', '{"choices": 7}'],
    ['has no text', '{"choices":[{"message":{"content":""}}]}'],
  ])('the answer %s', async (_what, body) => {
    const { failure } = await asked((response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(body)
    })
    expect(failure).toMatchObject({ code: 'answer_invalid', retriable: true })
    expect(failure.message).toContain('answered rubbish')
  })

  it('the answer has 20 MB: reading stops at 8 MiB', async () => {
    let written = 0
    const { failure } = await asked((response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const more = () => {
        while (written < 20e6) {
          written += 65_536
          if (!response.write(' '.repeat(65_536))) return void response.once('drain', more)
        }
        response.end()
      }
      more()
    })
    expect(failure.code).toBe('answer_invalid')
    expect(failure.message).toContain('larger than 8,388,608 bytes')
    expect(written).toBeLessThan(20e6)
  })

  it.each([
    [401, 'the key is not accepted'],
    [404, 'does not know the model'],
    [429, 'too many requests'],
    [500, 'the fault is on its side'],
    [302, 'a key is not sent elsewhere'],
  ])('it answers with status %d, once, without its words', async (status, words) => {
    const { failure, calls } = await asked((response) => {
      response.writeHead(status, { 'content-type': 'application/json', location: 'http://127.0.0.1:1/' })
      response.end(JSON.stringify({ error: { message: 'bad key sk-hush; you said: hello' } }))
    })
    expect(failure).toMatchObject({ code: 'backend_refused', retriable: true })
    expect(failure.message).toContain(words)
    expect(failure.message).not.toContain('hello')
    expect(calls).toBe(1)
  })

  it('it never answers: bounded by its own time and by the step’s', async () => {
    const { failure } = await asked(() => undefined, 50)
    expect(failure).toMatchObject({ code: 'backend_timeout', errorType: 'timeout' })
    expect(failure.message).toContain('did not answer in time')
    const server = await modelServer(() => undefined)
    const step = new AbortController()
    const late = failureOf(opened([compatible(server.url)]).ask(call, step.signal))
    step.abort()
    expect((await late).code).toBe('backend_timeout')
  })
})

describe('names, keys and budgets', () => {
  const scripted = (name: string, ...answers: string[]): ConfiguredBackend => ({
    name,
    provider: 'scripted',
    script: { answers },
  })

  it('an unknown backend is refused with the names there are', async () => {
    const models = opened([scripted('b'), scripted('a')])
    const failure = await failureOf(models.ask({ ...call, backend: 'gateway' }, never))
    expect(failure).toMatchObject({ code: 'backend_unknown', retriable: false })
    expect(failure.message).toBe('The model backend "gateway" is not configured; known backends: a, b.')
  })

  it('the workflow’s own name wins over the installation’s', async () => {
    const models = opened([scripted('m', 'mine')], { installationBackends: [scripted('m', 'theirs')] })
    expect((await models.ask(call, never)).text).toBe('mine')
    expect(models.names()).toEqual(['m'])
  })

  it.each([
    [{ apiKeyEnv: 'UNSET' }, 'which is unset or empty'],
    [{ apiKeyEnv: 'HOLDPOINT_SECRET' }, 'it belongs to the installation itself'],
    [{}, 'names no key'],
    [{ apiKeyEnv: 'KEY', model: undefined }, 'names no model'],
    [{ apiKeyEnv: 'KEY', baseUrl: 'file:///etc/passwd' }, 'no http or https address'],
    [{ apiKeyEnv: 'KEY', baseUrl: 'http://me:pw@example.com' }, 'without a password'],
  ])('a definition %j is refused before anything is sent', async (more, words) => {
    const failure = await failureOf(
      opened([{ name: 'm', provider: 'anthropic', model: 'c', ...more }]).ask(call, never),
    )
    expect(failure).toMatchObject({ code: 'backend_misconfigured', retriable: false })
    expect(failure.message).toContain(words)
    expect(failure.message).not.toContain('pw@')
  })

  it('a secret of that name comes before the environment', async () => {
    const server = await modelServer(json(chatAnswer))
    const models = opened(
      [{ name: 'm', provider: 'openai-compatible', model: 'q', apiKeyEnv: 'KEY', baseUrl: server.url }],
      { secret: async (name) => (name === 'KEY' ? 'from-the-vault' : undefined) },
    )
    await models.ask(call, never)
    expect(server.seen[0]?.headers.authorization).toBe('Bearer from-the-vault')
  })

  it('a spent budget stops a call before it is made', async () => {
    const spend = () => {
      throw new EffectFailed('budget_exhausted', 'The run may spend no more model tokens')
    }
    const positions = new ScriptPositions()
    const failure = await failureOf(opened([scripted('m', 'x')], { spend, positions }).ask(call, never))
    expect(failure.code).toBe('budget_exhausted')
    expect(positions.next('run_1', 'm')).toBe(0)
  })
})

describe('a scripted backend', () => {
  const file = `
    repeat = false
    answers = ["first", { content = { label = "spam" }, prompt_tokens = 12, completion_tokens = 1 },
      { fault = "down" }, { fault = "error" }, { fault = "rubbish" }, { fault = "slow" }]
  `
  const backend: Backend = { name: 'm', provider: 'scripted', path: 'answers.toml' }
  const read = async (name: string) => (name === 'answers.toml' ? file : undefined)

  it('answers in order, each run from the start, with tokens and faults', async () => {
    const models = opened([backend], { read, timeoutMs: 50 })
    expect((await models.ask(call, never)).text).toBe('first')
    expect(await models.ask(call, never)).toEqual({
      text: '{"label":"spam"}',
      usage: { promptTokens: 12, completionTokens: 1 },
    })
    const codes = []
    for (let at = 0; at < 5; at++) codes.push((await failureOf(models.ask(call, never))).code)
    expect(codes).toEqual([
      'backend_unreachable',
      'backend_refused',
      'answer_invalid',
      'backend_timeout',
      'answer_missing',
    ])
    expect((await opened([backend], { read, run: 'run_2' }).ask(call, never)).text).toBe('first')
  })

  it.each([
    ['answers = [{ contnt = "x" }]', 'at answers.0'],
    ['= =', 'neither JSON nor TOML'],
    ['{"answers"', 'neither JSON nor TOML'],
  ])('a script %j is refused', async (text, words) => {
    const failure = await failureOf(opened([backend], { read: async () => text }).ask(call, never))
    expect(failure.code).toBe('backend_misconfigured')
    expect(failure.message).toContain(words)
  })
})

describe('the installation’s backends', () => {
  it('are agentd’s switch as default, then models.json', () => {
    const file = JSON.stringify({
      backends: [
        { name: 'local', provider: 'openai-compatible', model: 'q', base_url: 'http://127.0.0.1:8000/v1' },
      ],
    })
    expect(
      installationBackends(file, (name) => (name === 'AGENTD_INTEL_UNIX' ? '/run/i.sock' : undefined)),
    ).toEqual([
      { name: 'default', provider: 'unix', path: '/run/i.sock' },
      { name: 'local', provider: 'openai-compatible', model: 'q', baseUrl: 'http://127.0.0.1:8000/v1' },
    ])
    expect(installationBackends(undefined, () => undefined)).toEqual([])
  })

  it.each([
    ['{', 'models.json is not JSON'],
    ['{"backends":[{"name":"x","provider":"clippy"}]}', 'backends.0.provider'],
    ['{"backends":[{"name":"x","provider":"openai","api_key":"sk-1"}]}', 'backends.0'],
  ])('models.json %s is refused', (file, words) => {
    expect(() => installationBackends(file, () => undefined)).toThrow(words)
  })
})
