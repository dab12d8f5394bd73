import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '@/lib/base/json'
import { actionFor, effectsWith, failureOf, nodeOf, runnerFor } from './fixtures'
import { openModels } from './models/models'
import { type ScriptedAnswer, ScriptPositions } from './models/scripted-backend'
import type { ModelCall, Models } from './runner'

const tierSchema = JSON.stringify({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  required: ['tier'],
  properties: { tier: { enum: ['simple', 'complex'] }, why: { type: 'string', format: 'uri' } },
})

/** Effects with a scripted model, and what it was asked. */
function withModel(answers: ScriptedAnswer[], files: Record<string, string> = {}) {
  const asked: ModelCall[] = []
  const opened = openModels({
    backends: [{ name: 'default', provider: 'scripted', script: { answers } }],
    installationBackends: [],
    env: () => undefined,
    secret: async () => undefined,
    read: async () => undefined,
    spend: () => undefined,
    run: 'run_1',
    positions: new ScriptPositions(),
  })
  const models: Models = {
    names: opened.names,
    ask: (call, signal) => {
      asked.push(call)
      return opened.ask(call, signal)
    },
  }
  const authored = async (path: string) => files[path]
  return { effects: effectsWith({ models, authored }), asked }
}

async function inferred(
  config: JsonObject,
  { effects }: ReturnType<typeof withModel>,
  values: Record<string, Json> = {},
) {
  const action = await actionFor(nodeOf('llm_infer', config), effects, values)
  return runnerFor('llm_infer').perform(action, effects)
}

describe('llm_infer', () => {
  it('fills the prompt from its input and gives content, parsed and usage', async () => {
    const model = withModel([{ content: 'positive', prompt_tokens: 12, completion_tokens: 1 }])
    const config = { prompt: 'Classify: {{text}} {{nope}}', input_from: 'trigger' }
    expect(await inferred(config, model, { trigger: { text: 'lovely' } })).toEqual({
      output: { content: 'positive', parsed: null, usage: { prompt_tokens: 12, completion_tokens: 1 } },
      modelTokens: 13,
    })
    expect(model.asked[0]?.messages).toEqual([{ role: 'user', text: 'Classify: lovely {{nope}}' }])
  })

  it('takes a missing input for null, as agentd does', async () => {
    const model = withModel(['x'])
    await inferred({ prompt: 'a {{b}}', input_from: 'nothing.there' }, model)
    expect(model.asked[0]?.messages[0]?.text).toBe('a {{b}}')
  })

  it('asks nobody in a dry run', async () => {
    const model = withModel(['x'])
    const effects = { ...model.effects, dryRun: true }
    expect(await inferred({ prompt: 'a', output_schema: 'inline' }, { ...model, effects })).toEqual({
      output: { content: '<dry-run>', dry_run: true },
    })
    expect(model.asked).toEqual([])
  })

  it('refuses an unknown backend before it does anything, with the names there are', async () => {
    const failure = await failureOf(inferred({ backend: 'gateway', prompt: 'a' }, withModel(['x'])))
    expect(failure).toMatchObject({ code: 'backend_unknown', retriable: false })
    expect(failure.message).toContain('"gateway" is not configured; known backends: default')
  })
})

describe('output_schema', () => {
  it('any text that names no file asks for JSON alone', async () => {
    expect(
      (
        await inferred(
          { prompt: 'a', output_schema: 'inline' },
          withModel([{ content: { decision: 'alpha' } }]),
        )
      ).output,
    ).toMatchObject({ content: '{"decision":"alpha"}', parsed: { decision: 'alpha' } })
    const failure = await failureOf(
      inferred({ prompt: 'a', output_schema: 'inline' }, withModel(['Sure! Here is a secret for you.'])),
    )
    expect(failure).toMatchObject({ code: 'answer_schema', retriable: false })
    expect(failure.message).toContain(
      'failed its schema validation after 1 attempt: model returned invalid JSON (line 1',
    )
    expect(failure.message).not.toContain('secret')
  })

  it('fences are no JSON', async () => {
    const fenced = withModel(['```json\n{"a":1}\n```'])
    expect((await failureOf(inferred({ prompt: 'a', output_schema: 'json' }, fenced))).code).toBe(
      'answer_schema',
    )
  })

  it('a file is a JSON Schema that the answer must fit, and that the backend is told', async () => {
    const model = withModel([{ content: { tier: 'simple', why: 'no uri' } }], {
      'schemas/tier.json': tierSchema,
    })
    const { output } = await inferred({ prompt: 'a', output_schema: 'schemas/tier.json' }, model)
    expect(output).toMatchObject({ parsed: { tier: 'simple' } })
    expect(model.asked[0]?.schema).toMatchObject({ required: ['tier'] })
  })

  it('repairs feed back what was refused and why, a bounded number of times', async () => {
    const files = { 's.json': tierSchema }
    const config = { prompt: 'a', output_schema: 's.json', output_repairs: 2 }
    const mended = withModel(['nope', { content: { tier: 'huge' } }, { content: { tier: 'complex' } }], files)
    expect((await inferred(config, mended)).output).toMatchObject({ parsed: { tier: 'complex' } })
    expect(mended.asked.map(({ messages }) => messages.length)).toEqual([1, 3, 5])
    expect(mended.asked[2]?.messages.map(({ text }) => text)).toEqual([
      'a',
      'nope',
      expect.stringContaining('invalid JSON'),
      '{"tier":"huge"}',
      expect.stringContaining('/tier must be equal to one of the allowed values'),
    ])
    const hopeless = withModel(['1', '2', '3', '{"tier":"simple"}'], files)
    const failure = await failureOf(inferred(config, hopeless))
    expect(failure).toMatchObject({ code: 'answer_schema', retriable: false })
    expect(failure.message).toContain('after 3 attempts: schema violation: the value must be object')
    expect(hopeless.asked).toHaveLength(3)
  })

  it.each([
    ['{"type": "wibble"}', 'is not a valid schema'],
    ['[]', 'a JSON object'],
    ['not json', 'a JSON object'],
    ['{"$ref":"https://example.com/s.json"}', 'is not a valid schema'],
  ])('a file that is no schema is refused before a token is spent: %s', async (text, words) => {
    const model = withModel(['{}'], { 's.json': text })
    const failure = await failureOf(inferred({ prompt: 'a', output_schema: 's.json' }, model))
    expect(failure).toMatchObject({ code: 'schema_invalid', retriable: false })
    expect(failure.message).toContain(words)
    expect(model.asked).toEqual([])
  })

  it('an answer nested 5,000 levels deep is refused', async () => {
    const deep = withModel([`${'['.repeat(5_000)}${']'.repeat(5_000)}`])
    const failure = await failureOf(inferred({ prompt: 'a', output_schema: 'json' }, deep))
    expect(failure.message).toContain('nested too deep')
  })
})
