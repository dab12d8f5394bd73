import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '@/lib/base/json'
import { failureOf } from '@/lib/runners/fixtures'
import type { ModelCall, ModelMessage, ToolOffer } from '@/lib/runners/runner'
import type { Backend } from '@/lib/workflow/graph'
import { paired } from './conversation'
import { frame, json, modelServer, socketServer } from './fixtures'
import { type ConfiguredBackend, openModels } from './models'
import { readScript, type Script, ScriptPositions } from './scripted-backend'
import { checkedAnswer, maxArgsBytes } from './tool-uses'

const runTests: ToolOffer = {
  name: 'run_tests',
  description: 'Execute the test suite',
  parameters: {
    type: 'object',
    properties: { test_path: { type: 'string' } },
    required: ['test_path'],
  },
}
/** Two turns of a talk: the model asked for a tool twice, one worked and one did not. */
const talk: ModelMessage[] = [
  { role: 'system', text: 'be brief' },
  { role: 'user', text: 'hello' },
  {
    role: 'assistant',
    text: 'First the tests.',
    uses: [
      { id: 'call_1', name: 'run_tests', args: { test_path: 'a' } },
      { id: 'call_2', name: 'run_tests', args: { test_path: 'b' } },
    ],
  },
  { role: 'tool', id: 'call_1', name: 'run_tests', text: '2 of 5 pass' },
  { role: 'tool', id: 'call_2', name: 'run_tests', text: 'no such folder', isError: true },
]
const call: ModelCall = {
  backend: 'm',
  messages: talk,
  tools: [runTests],
  toolChoice: 'required',
  temperature: 0.2,
}
const never = new AbortController().signal

function opened(backend: ConfiguredBackend, positions = new ScriptPositions(), run = 'run_1') {
  return openModels({
    backends: [{ apiKeyEnv: 'KEY', ...backend }],
    installationBackends: [],
    env: (name) => (name === 'KEY' ? 'sk-hush' : undefined),
    secret: async () => undefined,
    read: async () => undefined,
    spend: () => undefined,
    run,
    positions,
  })
}

async function answered(provider: Backend['provider'], answer: Json, asked = call) {
  const server = await modelServer(json(answer))
  const models = opened({ name: 'm', provider, model: 'm-1', baseUrl: server.url })
  return { answer: await models.ask(asked, never), sent: server.seen[0]?.body as JsonObject }
}

const usage = { promptTokens: 0, completionTokens: 0 }

describe('OpenAI’s dialect', () => {
  const wished = (...calls: { id?: string; name: string; arguments: string }[]): Json => ({
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: null,
          tool_calls: calls.map(({ id, ...of }) => ({
            ...(id ? { id } : {}),
            type: 'function',
            function: of,
          })),
        },
      },
    ],
  })
  const one = wished({ id: 'call_9', name: 'run_tests', arguments: '{"test_path":"c"}' })

  it('is told the tools and the whole talk, and says what it wishes', async () => {
    const { answer, sent } = await answered('openai-compatible', one)
    expect(answer).toEqual({
      text: '',
      uses: [{ id: 'call_9', name: 'run_tests', args: { test_path: 'c' } }],
      usage,
    })
    expect(sent).toMatchObject({
      temperature: 0.2,
      tool_choice: 'required',
      tools: [{ type: 'function', function: runTests }],
    })
    expect(sent.messages).toEqual([
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'hello' },
      {
        role: 'assistant',
        content: 'First the tests.',
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'run_tests', arguments: '{"test_path":"a"}' } },
          { id: 'call_2', type: 'function', function: { name: 'run_tests', arguments: '{"test_path":"b"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '2 of 5 pass' },
      { role: 'tool', tool_call_id: 'call_2', content: 'no such folder' },
    ])
  })

  it('may ask for nothing where it is free to, and is asked for nothing where there are no tools', async () => {
    const text: Json = { choices: [{ message: { content: 'done' } }] }
    const free = await answered('openai-compatible', text, { ...call, toolChoice: 'auto' })
    expect(free.answer).toEqual({ text: 'done', usage })
    expect(free.sent.tool_choice).toBe('auto')
    const bare = await answered('openai-compatible', text, { ...call, tools: [] })
    expect(bare.sent).not.toHaveProperty('tools')
    expect(bare.sent).not.toHaveProperty('tool_choice')
  })

  it('keeps its ids where they tell uses apart, and is given others where they do not', async () => {
    const twice = wished(
      { id: 'call_1', name: 'run_tests', arguments: '{}' },
      { id: 'x y', name: 'run_tests', arguments: '{}' },
      { id: 'functions.run_tests:0', name: 'run_tests', arguments: '{}' },
    )
    const { answer } = await answered('openai-compatible', twice)
    expect(answer.uses?.map(({ id }) => id)).toEqual(['use_3', 'use_4', 'functions.run_tests:0'])
  })

  it('knows a tool with an odd name by another, and its answer has ours again', async () => {
    const odd = { ...runTests, name: 'Lauf die Tests! 🧪', parameters: {} }
    const server = await modelServer((response, seen) => {
      const tool = (seen.body.tools as { function: { name: string; parameters: Json } }[])[0]?.function
      expect(tool?.name).toMatch(/^[A-Za-z][\w-]{0,63}$/)
      expect(tool?.parameters).toMatchObject({ type: 'object' })
      json(wished({ id: 'c', name: tool?.name ?? '', arguments: '{}' }))(response)
    })
    const models = opened({ name: 'm', provider: 'openai-compatible', model: 'q', baseUrl: server.url })
    const { uses } = await models.ask({ ...call, tools: [odd] }, never)
    expect(uses).toEqual([{ id: 'c', name: odd.name, args: {} }])
  })

  it('hands on a tool nobody has: whoever asked can say so to the model', async () => {
    for (const name of ['rm_rf', 'constructor', '__proto__']) {
      const { answer } = await answered('openai-compatible', wished({ id: 'c', name, arguments: '{"a":1}' }))
      expect(answer.uses).toEqual([{ id: 'c', name, args: { a: 1 } }])
    }
  })

  it.each<[string, string, string]>([
    ['no JSON', '{"test_path": ', 'the arguments for "run_tests" are not a JSON object'],
    ['a list', '["a"]', 'the arguments for "run_tests" are not a JSON object'],
    ['a text', '"a"', 'the arguments for "run_tests" are not a JSON object'],
    ['a prototype', '{"__proto__": {"a": 1}}', 'the arguments for "run_tests" are not a JSON object'],
    [
      'too many bytes',
      JSON.stringify({ a: 'é'.repeat(maxArgsBytes / 2) }),
      'have 262,152 bytes, and at most 262,144 are taken',
    ],
  ])('arguments that are %s make the answer text that says so', async (_what, written, words) => {
    const { answer } = await answered(
      'openai-compatible',
      wished(
        { id: 'a', name: 'run_tests', arguments: '{"test_path":"fine"}' },
        { id: 'b', name: 'run_tests', arguments: written },
      ),
    )
    expect(answer.uses).toBeUndefined()
    expect(answer.text).toContain('No tool was used')
    expect(answer.text).toContain(words)
  })
})

describe('Anthropic’s API', () => {
  it('is told the tools and the whole talk, and says what it wishes', async () => {
    const { answer, sent } = await answered('anthropic', {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm-1',
      content: [
        { type: 'text', text: 'Once more.' },
        { type: 'tool_use', id: 'toolu_9', name: 'run_tests', input: { test_path: 'c' } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 5, output_tokens: 2 },
    })
    expect(answer).toEqual({
      text: 'Once more.',
      uses: [{ id: 'toolu_9', name: 'run_tests', args: { test_path: 'c' } }],
      usage: { promptTokens: 5, completionTokens: 2 },
    })
    expect(sent).toMatchObject({
      temperature: 0.2,
      system: [{ type: 'text', text: 'be brief' }],
      tool_choice: { type: 'any' },
      tools: [{ name: 'run_tests', description: runTests.description, input_schema: runTests.parameters }],
    })
    expect(sent.messages).toMatchObject([
      { role: 'user', content: [{ type: 'text', text: 'hello' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'First the tests.' },
          { type: 'tool_use', id: 'call_1', name: 'run_tests', input: { test_path: 'a' } },
          { type: 'tool_use', id: 'call_2', name: 'run_tests', input: { test_path: 'b' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content: '2 of 5 pass' },
          { type: 'tool_result', tool_use_id: 'call_2', content: 'no such folder', is_error: true },
        ],
      },
    ])
  })
})

describe('Gemini’s API', () => {
  const wished: Json = {
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            { text: 'Once more.' },
            { functionCall: { name: 'run_tests', args: { test_path: 'c' } }, thoughtSignature: 'c2ln' },
            { functionCall: { name: 'run_tests', args: { test_path: 'd' } } },
          ],
        },
        finishReason: 'STOP',
      },
    ],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 },
  }

  it('is told the tools and the whole talk, and says what it wishes', async () => {
    const { answer, sent } = await answered('gemini', wished)
    expect(answer).toMatchObject({
      text: 'Once more.',
      uses: [
        { name: 'run_tests', args: { test_path: 'c' } },
        { name: 'run_tests', args: { test_path: 'd' } },
      ],
    })
    expect(new Set(answer.uses?.map(({ id }) => id)).size).toBe(2)
    expect(sent).toMatchObject({
      generationConfig: { temperature: 0.2 },
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
      tools: [{ functionDeclarations: [{ name: 'run_tests', parameters: runTests.parameters }] }],
      systemInstruction: { parts: [{ text: 'be brief' }] },
    })
    const [user, model, results] = sent.contents as JsonObject[]
    expect(user).toEqual({ role: 'user', parts: [{ text: 'hello' }] })
    expect(model).toMatchObject({
      role: 'model',
      parts: [
        { text: 'First the tests.' },
        { functionCall: { name: 'run_tests', args: { test_path: 'a' } } },
        { functionCall: { name: 'run_tests', args: { test_path: 'b' } } },
      ],
    })
    expect(results?.parts).toMatchObject([
      { functionResponse: { name: 'run_tests' } },
      { functionResponse: { name: 'run_tests' } },
    ])
    expect(JSON.stringify(results)).toContain('2 of 5 pass')
    expect(JSON.stringify(results)).toContain('no such folder')
  })

  it('is told of a schema only where there are no tools: it refuses the two together', async () => {
    const schema = { type: 'object', properties: { event: { type: 'string' } } }
    const both = await answered('gemini', wished, { ...call, schema })
    expect(both.sent.generationConfig).not.toHaveProperty('responseMimeType')
    const alone = await answered('gemini', wished, { ...call, tools: undefined, schema })
    expect(alone.sent.generationConfig).toMatchObject({ responseMimeType: 'application/json' })
    expect(alone.answer.text).toContain('Once more.')
    expect(alone.answer.text).toContain('no tools were offered')
  })
})

describe('a backend of any provider', () => {
  it('gets what an instruction says as the user’s words where nobody has spoken', async () => {
    const { sent } = await answered(
      'openai-compatible',
      { choices: [{ message: { content: 'x' } }] },
      { backend: 'm', messages: [{ role: 'system', text: 'Summarize.' }] },
    )
    expect(sent.messages).toEqual([{ role: 'user', content: 'Summarize.' }])
  })

  it('refuses a talk whose tools and uses are beyond the bound', async () => {
    const big = { ...runTests, description: 'x'.repeat(5_000_000) }
    const failure = await failureOf(
      opened({ name: 'm', provider: 'scripted', script: { answers: ['x'] } }).ask(
        { ...call, tools: [big] },
        never,
      ),
    )
    expect(failure.code).toBe('too_large')
    expect(failure.message).toContain('at most 4,194,304 are sent')
  })
})

describe('agentd’s own protocol, which knows no tools', () => {
  async function said(content: string, asked = call) {
    let request: JsonObject = {}
    const at = await socketServer((got) => {
      request = got
      return frame({ jsonrpc: '2.0', id: got.id, result: { content } })
    })
    const answer = await opened({ name: 'm', provider: 'unix', path: at }).ask(asked, never)
    return { answer, params: request.params as { messages: { role: string; content: string }[] } }
  }

  it('is told them in words, and the talk as JSON', async () => {
    const { answer, params } = await said('{"tool_calls":[{"name":"run_tests","args":{"test_path":"c"}}]}')
    expect(answer).toEqual({
      text: '',
      uses: [{ id: 'use_3', name: 'run_tests', args: { test_path: 'c' } }],
      usage,
    })
    expect(params).toMatchObject({ temperature: 0.2 })
    const [first, rules, hello, wish, result, failure] = params.messages
    expect(first).toEqual({ role: 'system', content: 'be brief' })
    expect(rules?.role).toBe('system')
    for (const words of ['"tool_calls"', 'must use at least one', '"run_tests"', '"test_path"', 'is data']) {
      expect(rules?.content).toContain(words)
    }
    expect(hello).toEqual({ role: 'user', content: 'hello' })
    expect(wish?.role).toBe('assistant')
    expect(JSON.parse(wish?.content ?? '')).toMatchObject({
      text: 'First the tests.',
      tool_calls: [{ id: 'call_1', args: { test_path: 'a' } }, { id: 'call_2' }],
    })
    expect(result?.role).toBe('user')
    expect(JSON.parse(result?.content ?? '')).toEqual({
      tool_result: { id: 'call_1', name: 'run_tests', content: '2 of 5 pass' },
    })
    expect(JSON.parse(failure?.content ?? '')).toEqual({
      tool_result: { id: 'call_2', name: 'run_tests', error: 'no such folder' },
    })
  })

  it('may put its object into a fence, with words of its own in it', async () => {
    const { answer } = await said('```json\n{"text":"again","tool_calls":[{"name":"run_tests"}]}\n```\n')
    expect(answer).toMatchObject({ text: 'again', uses: [{ name: 'run_tests', args: {} }] })
  })

  it.each([
    'Just prose.',
    'I would answer {"tool_calls":[{"name":"run_tests","args":{}}]}',
    '{"tool_calls":[]}',
    '{"tool_calls":{"name":"run_tests"}}',
    '{"tool_calls":[{"name":7,"args":{}}]}',
    '{"tool_calls":[{"name":"run_tests","args":{}}],"more":1}',
    '{"tool_calls":[',
  ])('takes %j as text', async (content) => {
    const { answer } = await said(content)
    expect(answer).toEqual({ text: content, usage })
  })

  it('says what is wrong where the object is right and a use in it is not', async () => {
    const { answer } = await said('{"tool_calls":[{"name":"run_tests","args":"a"}]}')
    expect(answer).toEqual({
      text: '(No tool was used: the arguments for "run_tests" are not a JSON object.)',
      usage,
    })
  })

  it('reads no uses out of an answer to a call without tools', async () => {
    const content = '{"tool_calls":[{"name":"run_tests","args":{}}]}'
    const { answer, params } = await said(content, { ...call, messages: talk.slice(0, 2), tools: undefined })
    expect(answer).toEqual({ text: content, usage })
    expect(params.messages).toHaveLength(2)
  })
})

describe('a scripted backend with tools', () => {
  const script = (value: Json): Script => readScript('m', JSON.stringify(value))
  const scripted = (value: Json): ConfiguredBackend => ({
    name: 'm',
    provider: 'scripted',
    script: script(value),
  })
  const asked = (system: string, ...more: ModelMessage[]): ModelCall => ({
    ...call,
    messages: [{ role: 'system', text: system }, { role: 'user', text: 'go' }, ...more],
  })

  it('wishes what its script says, with text and tokens', async () => {
    const models = opened(
      scripted({
        answers: [
          {
            text: 'Now the tests.',
            tool_calls: [{ name: 'run_tests', args: { test_path: 't' } }, { name: 'run_tests' }],
            prompt_tokens: 7,
          },
          { tool_calls: [{ id: 'mine', name: 'run_tests', args: {} }] },
          { content: { tool_calls: 1 } },
        ],
      }),
    )
    expect(await models.ask(asked(''), never)).toEqual({
      text: 'Now the tests.',
      uses: [
        { id: 'use_1', name: 'run_tests', args: { test_path: 't' } },
        { id: 'use_2', name: 'run_tests', args: {} },
      ],
      usage: { promptTokens: 7, completionTokens: 0 },
    })
    expect((await models.ask(asked(''), never)).uses?.[0]?.id).toBe('mine')
    expect((await models.ask(asked(''), never)).text).toBe('{"tool_calls":1}')
  })

  const several = scripted({
    when: [
      { system: ['You review', 'second attempt'], answers: ['better'] },
      { system: 'You review', last: 'fail 0', answers: ['passed'], repeat: true },
      { system: 'You review', answers: ['first', 'second'] },
      { system: 'You write', count: 'talk', answers: ['a draft', 'a better one'] },
    ],
    answers: ['whoever asks'],
  })

  it('gives each prompt a sequence of its own; the first entry that fits answers', async () => {
    const models = opened(several)
    const text = async (wanted: ModelCall) => (await models.ask(wanted, never)).text
    expect(await text(asked('You review code'))).toBe('first')
    expect(await text(asked('Plan'))).toBe('whoever asks')
    expect(await text(asked('You review code, second attempt'))).toBe('better')
    const result: ModelMessage = { role: 'user', text: 'pass 5, fail 0' }
    expect(await text(asked('You review code', result))).toBe('passed')
    expect(await text(asked('You review code', result))).toBe('passed')
    expect(await text(asked('You review code'))).toBe('second')
    const failure = await failureOf(models.ask(asked('You review code'), never))
    expect(failure.code).toBe('answer_missing')
    expect(failure.message).toContain('has 2 answers at when.2, and this was call 3; add one')
    const nobody = await failureOf(models.ask(asked('Plan'), never))
    expect(nobody.message).toContain('call 2, and no entry of its when fits the call')
  })

  it('counted by the talk, the same question gets the same answer in any run', async () => {
    const spoken: ModelMessage = { role: 'assistant', text: 'a draft' }
    for (const run of ['run_1', 'run_2']) {
      const models = opened(several, undefined, run)
      expect((await models.ask(asked('You write', spoken), never)).text).toBe('a better one')
      expect((await models.ask(asked('You write'), never)).text).toBe('a draft')
      expect((await models.ask(asked('You write'), never)).text).toBe('a draft')
    }
  })

  it('may be written in TOML', () => {
    const text =
      '[[when]]\nsystem = "You review"\nanswers = [{ tool_calls = [{ name = "run_tests", args = { test_path = "t" } }] }]\n'
    expect(readScript('m', text).when?.[0]?.answers).toEqual([
      { tool_calls: [{ name: 'run_tests', args: { test_path: 't' } }] },
    ])
  })

  it.each<[Json, string]>([
    [{}, 'it needs answers = […]'],
    [{ when: [{ system: 'x' }] }, 'at when.0.answers'],
    [{ when: [{ sytem: 'x', answers: [] }] }, 'at when.0'],
    [{ when: [{ system: '', answers: [] }] }, 'at when.0.system'],
    [{ answers: [{ text: 'a', content: 'b' }] }, 'at answers.0'],
    [{ answers: [{ tool_calls: [{ args: {} }] }] }, 'at answers.0'],
  ])('a script %j is refused', (value, words) => {
    expect(() => script(value)).toThrow(words)
  })
})

describe('the shape of wishes', () => {
  const wish = (name: unknown, args: unknown = {}) => ({ name, args })
  const checked = (...wishes: ReturnType<typeof wish>[]) => checkedAnswer(call, { text: 'so', wishes, usage })

  it.each<[string, ReturnType<typeof wish>[], string]>([
    ['33 at once', Array.from({ length: 33 }, () => wish('a')), '33 uses at once, and at most 32'],
    ['no name', [wish('a'), wish(' ')], 'use 2 names no tool'],
    ['a name that is a number', [wish(7)], 'the use names no tool'],
    ['a name of 129 characters', [wish('x'.repeat(129))], '1 to 128 characters'],
    ['no arguments', [{ name: 'a', args: undefined }], 'are not a JSON object'],
    ['null', [wish('a', null)], 'are not a JSON object'],
    [
      'depth',
      [wish('a', JSON.parse(`${'{"a":'.repeat(200)}1${'}'.repeat(200)}`))],
      'nested deeper than 100 levels',
    ],
  ])('%s: the answer is text', (_what, wishes, words) => {
    const answer = checked(...wishes)
    expect(answer.uses).toBeUndefined()
    expect(answer.text).toMatch(/^so\n\n\(No tool was used: .*\.\)$/s)
    expect(answer.text).toContain(words)
  })

  it('32 of them at once are taken, each with an id of its own', () => {
    const answer = checked(...Array.from({ length: 32 }, () => wish('a')))
    expect(new Set(answer.uses?.map(({ id }) => id)).size).toBe(32)
  })
})

describe('a conversation as providers take it', () => {
  it('gives a use without a result one, and takes a stray result as what the user says', () => {
    const use = { id: 'a', name: 't', args: {} }
    expect(
      paired([
        { role: 'tool', id: 'z', name: 't', text: 'stray' },
        { role: 'assistant', text: '', uses: [use, { ...use, id: 'b' }] },
        { role: 'tool', id: 'b', name: 'other', text: 'late' },
        { role: 'user', text: 'go on' },
        { role: 'assistant', text: '', uses: [{ ...use, id: 'c' }] },
      ]),
    ).toEqual([
      { role: 'user', text: 'A tool gave back: stray' },
      { role: 'assistant', text: '', uses: [use, { ...use, id: 'b' }] },
      { role: 'tool', id: 'b', name: 't', text: 'late' },
      { role: 'tool', id: 'a', name: 't', text: '(There is no result: the tool was not run.)' },
      { role: 'user', text: 'go on' },
      { role: 'assistant', text: '', uses: [{ ...use, id: 'c' }] },
      { role: 'tool', id: 'c', name: 't', text: '(There is no result: the tool was not run.)' },
    ])
  })

  const id = fc.constantFrom('a', 'b', 'c')
  const message: fc.Arbitrary<ModelMessage> = fc.oneof(
    fc.record({ role: fc.constantFrom('system' as const, 'user' as const), text: fc.string() }),
    fc.record({
      role: fc.constant('assistant' as const),
      text: fc.string(),
      uses: fc.uniqueArray(id).map((ids) => ids.map((one) => ({ id: one, name: 't', args: {} }))),
    }),
    fc.record({ role: fc.constant('tool' as const), id, name: fc.constant('t'), text: fc.string() }),
  )

  it('whatever was said: every use has one result right behind it, and pairing again changes nothing', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), (messages) => {
        const told = paired(messages)
        let open = new Set<string>()
        for (const one of told.filter(({ role }) => role !== 'system')) {
          if (one.role === 'tool') expect(open.delete(one.id)).toBe(true)
          else expect([...open]).toEqual([])
          if (one.role === 'assistant') open = new Set(one.uses?.map((use) => use.id))
        }
        expect([...open]).toEqual([])
        expect(paired(told)).toEqual(told)
      }),
    )
  })
})
