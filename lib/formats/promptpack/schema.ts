/*
 * The form of a pack, as PromptPack 1.4.0 and 1.5.0 publish it. Both versions are in use under one name, so a pack is
 * held against both, and one that either accepts is accepted (NOTES 16). What differs between them is the table below;
 * everything else is said once.
 *
 * Schemas check and never change. References between members (a state's prompt, a prompt's tools) are no matter of form
 * and are checked where the pack is read (read.ts).
 */
import { z } from 'zod'

export const packVersions = ['1.4.0', '1.5.0'] as const
export type PackVersion = (typeof packVersions)[number]

/** What one version says otherwise than the other. Members that are not listed here stand in both. */
const differences = {
  '1.4.0': {
    compositions: false,
    compositionStates: false,
    variableBinding: true,
    validatorMessage: true,
    evalDetails: true,
    agentState: false,
    budgetChecked: true,
    /** A validator says whether it is on. */
    validatorEnabled: false,
    /** A state that is not the last says where it leads. */
    onEventRequired: false,
    /** Texts that 1.5.0 takes from a list are free. */
    listed: false,
  },
  '1.5.0': {
    compositions: true,
    compositionStates: true,
    variableBinding: false,
    validatorMessage: false,
    evalDetails: false,
    agentState: true,
    budgetChecked: false,
    validatorEnabled: true,
    onEventRequired: true,
    listed: true,
  },
} as const satisfies Record<PackVersion, Record<string, boolean>>

const strict = z.strictObject
const loose = z.looseObject
const text = z.string()
const filled = z.string().min(1)
const flag = z.boolean()
const texts = z.array(text)
const anything = z.unknown()
const object = loose({})
/** JSON Schema's integer: 2.0 is one, and so is a number beyond what can be counted exactly. */
const whole = (least?: number) =>
  z.number().refine((value) => Number.isInteger(value) && (least === undefined || value >= least), {
    error:
      least === undefined
        ? 'A whole number was expected.'
        : `A whole number of at least ${least} was expected.`,
  })
/** Lengths count characters, as JSON Schema does; a text counts two units for some of them. */
const upTo = (most: number, schema = text) =>
  schema.refine((value) => value.length <= most || [...value].length <= most, {
    error: `At most ${most.toLocaleString('en-US')} characters were expected.`,
  })
/** An object by names, with at least so many of them. */
const record = (member: z.ZodType, least = 0) =>
  z.record(z.string(), member).refine((value) => Object.keys(value).length >= least, {
    error: 'At least one member was expected; there is none.',
  })
const semver =
  /^v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/u
const version = z.string().regex(semver, 'A version such as 1.0.0 was expected.')
const identifier = /^[a-zA-Z_][a-zA-Z0-9_]*$/u

/** Exactly one of several forms, as JSON Schema's oneOf counts them. */
function exactlyOne(forms: readonly z.ZodType[], error: string) {
  return z.unknown().refine((value) => forms.filter((form) => form.safeParse(value).success).length === 1, {
    error,
  })
}

/** What a member is when its version has it, and nothing otherwise. */
function only<T extends z.ZodRawShape>(has: boolean, members: T): T | Record<never, never> {
  return has ? members : {}
}

const parameters = strict({
  temperature: z.number().min(0).max(2).optional(),
  max_tokens: whole(1).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_k: z.union([whole(1), z.null()]).optional(),
  frequency_penalty: z.number().min(-2).max(2).optional(),
  presence_penalty: z.number().min(-2).max(2).optional(),
})

const tool = strict({
  name: z.string().regex(identifier, 'A name of letters, digits and "_" was expected.'),
  description: filled,
  parameters: loose({
    type: z.literal('object'),
    properties: record(object),
    required: texts.optional(),
  }).optional(),
})

const toolPolicy = strict({
  tool_choice: z.enum(['auto', 'required', 'none']).optional(),
  max_rounds: whole(1).optional(),
  max_tool_calls_per_turn: whole(1).optional(),
  blocklist: texts.optional(),
})

const pipeline = strict({
  stages: texts,
  middleware: z.array(strict({ type: text, config: object.optional() })).optional(),
})

const testedModel = strict({
  provider: text,
  model: text,
  date: text,
  success_rate: z.number().min(0).max(1).optional(),
  avg_tokens: z.number().min(0).optional(),
  avg_cost: z.number().min(0).optional(),
  avg_latency_ms: z.number().min(0).optional(),
  notes: text.optional(),
})

const modelOverride = strict({
  system_template_prefix: text.optional(),
  system_template_suffix: text.optional(),
  system_template: text.optional(),
  parameters: parameters.optional(),
})

const contentPart = strict({
  type: z.string().regex(/^[a-z0-9_]+$/u, 'A name of small letters, digits and "_" was expected.'),
  text: text.optional(),
  media: strict({
    file_path: text.optional(),
    url: text.optional(),
    base64: text.optional(),
    mime_type: text,
    detail: z.enum(['low', 'high', 'auto']).optional(),
    caption: text.optional(),
  }).optional(),
})

const multimodalExample = strict({
  name: text,
  description: text.optional(),
  role: z.enum(['user', 'assistant', 'system']),
  parts: z.array(contentPart).min(1),
})

/** Kinds of media with members of their own; every other one is generic. */
function mediaConfig(listed: boolean) {
  const from = (values: [string, ...string[]]) => (listed ? z.enum(values) : text)
  const size = { max_size_mb: whole(1).optional() }
  const metadata = { require_metadata: flag.optional() }
  const image = strict({
    ...size,
    allowed_formats: z.array(from(['jpeg', 'jpg', 'png', 'webp', 'gif', 'bmp'])).optional(),
    default_detail: from(['low', 'high', 'auto']).optional(),
    require_caption: flag.optional(),
    max_images_per_msg: whole(1).optional(),
  })
  const timed = (formats: [string, ...string[]]) =>
    strict({
      ...size,
      ...metadata,
      allowed_formats: z.array(from(formats)).optional(),
      max_duration_sec: whole(1).optional(),
    })
  const audio = timed(['mp3', 'wav', 'opus', 'flac', 'm4a', 'aac', 'ogg'])
  const video = timed(['mp4', 'webm', 'mov', 'avi', 'mkv'])
  const document = strict({
    ...size,
    ...metadata,
    allowed_formats: texts.optional(),
    max_pages: whole(1).optional(),
    extraction_mode: z.enum(['text', 'structured', 'raw']).optional(),
  })
  const generic = loose({
    ...size,
    ...metadata,
    allowed_formats: texts.optional(),
    validation_params: object.optional(),
  })
  return z
    .object({
      enabled: flag,
      supported_types: z
        .array(z.string().regex(/^[a-z0-9_]+$/u, 'A name of small letters, digits and "_" was expected.'))
        .optional(),
      image: image.optional(),
      audio: audio.optional(),
      video: video.optional(),
      document: document.optional(),
      examples: z.array(multimodalExample).optional(),
    })
    .catchall(
      exactlyOne(
        [image, audio, video, document, generic],
        'The settings of one kind of media were expected, and these are of none or of several.',
      ),
    )
}

const metric = loose({
  name: z.string().regex(/^[a-zA-Z_:][a-zA-Z0-9_:]*$/u, 'The name of a metric was expected.'),
  type: z.enum(['gauge', 'counter', 'histogram', 'boolean']),
  range: loose({ min: z.number().optional(), max: z.number().optional() }).optional(),
})

function promptOf(is: (typeof differences)[PackVersion]) {
  const triggers = ['every_turn', 'on_session_complete', 'sample_turns', 'sample_sessions'] as const
  const evaluation = strict({
    id: filled,
    description: text.optional(),
    type: filled,
    trigger: is.listed ? z.enum(triggers) : text,
    sample_percentage: z.number().min(0).max(100).optional(),
    enabled: flag.optional(),
    params: object.optional(),
    metric: metric.optional(),
    ...only(is.evalDetails, {
      threshold: strict({ operator: text.optional(), value: z.number().optional() }).optional(),
      message: text.optional(),
      when: object.optional(),
      groups: texts.optional(),
    }),
  })
  const types = ['string', 'number', 'boolean', 'object', 'array'] as const
  const variable = strict({
    name: z.string().regex(identifier, 'A name of letters, digits and "_" was expected.'),
    type: is.listed ? z.enum(types) : text,
    required: flag,
    default: anything.optional(),
    description: text.optional(),
    example: anything.optional(),
    validation: strict({
      pattern: text.optional(),
      min_length: whole(0).optional(),
      max_length: whole(1).optional(),
      minimum: z.number().optional(),
      maximum: z.number().optional(),
      enum: z.array(anything).optional(),
    }).optional(),
    ...only(is.variableBinding, {
      binding: strict({
        kind: text.optional(),
        field: text.optional(),
        auto_populate: flag.optional(),
        filter: text.optional(),
      }).optional(),
    }),
  })
  const validator = strict({
    type: filled,
    enabled: is.validatorEnabled ? flag : flag.optional(),
    fail_on_violation: flag.optional(),
    params: object.optional(),
    ...only(is.validatorMessage, { message: text.optional() }),
  })
  const prompt = strict({
    id: z
      .string()
      .regex(/^[a-z][a-z0-9_-]*$/u, 'Small letters, digits, "_" and "-" were expected, a letter first.'),
    name: filled,
    description: text.optional(),
    version,
    system_template: filled,
    variables: z.array(variable).optional(),
    tools: texts.optional(),
    tool_policy: toolPolicy.optional(),
    pipeline: pipeline.optional(),
    parameters: parameters.optional(),
    validators: z.array(validator).optional(),
    evals: z.array(evaluation).optional(),
    tested_models: z.array(testedModel).optional(),
    model_overrides: record(modelOverride).optional(),
    media: mediaConfig(is.listed).optional(),
  })
  return { prompt, evaluation }
}

const budget = strict({
  max_total_visits: whole(1).optional(),
  max_tool_calls: whole(1).optional(),
  max_wall_time_sec: whole(1).optional(),
})

function stateOf(is: (typeof differences)[PackVersion]) {
  const from = (values: [string, ...string[]]) => (is.listed ? z.enum(values) : text)
  const state = strict({
    prompt_task: is.compositionStates ? text.optional() : text,
    description: text.optional(),
    on_event: record(text).optional(),
    persistence: from(['transient', 'persistent']).optional(),
    orchestration: from(['internal', 'external', 'hybrid', 'composition']).optional(),
    skills: text.optional(),
    terminal: flag.optional(),
    max_visits: whole(1).optional(),
    on_max_visits: text.optional(),
    artifacts: record(
      strict({ type: text, description: text.optional(), mode: z.enum(['replace', 'append']).optional() }),
    ).optional(),
    ...only(is.compositionStates, { composition: text.optional() }),
  })
  return state.superRefine((given: Record<string, unknown>, context) => {
    const lacks = (member: string) => {
      if (given[member] === undefined)
        context.addIssue({
          code: 'custom',
          path: [],
          message: `missing:${member}`,
          params: { missing: member },
        })
    }
    if (is.onEventRequired && given.terminal !== true) lacks('on_event')
    if (is.compositionStates) lacks(given.orchestration === 'composition' ? 'composition' : 'prompt_task')
  })
}

const predicateForms =
  'A predicate was expected: compare, exists, all_of, any_of or not, and one of them alone.'
const predicate: z.ZodType = z.lazy(() =>
  exactlyOne(
    [
      loose({
        path: text,
        op: z.enum([
          'equals',
          'not_equals',
          'in',
          'not_in',
          'less_than',
          'less_than_or_equals',
          'greater_than',
          'greater_than_or_equals',
        ]),
        value: z.unknown().refine((value) => value !== undefined),
      }),
      loose({ path: text, exists: flag }),
      loose({ all_of: z.array(predicate) }),
      loose({ any_of: z.array(predicate) }),
      loose({ not: predicate }),
    ],
    predicateForms,
  ),
)

const stepInput = z.union([text, object])
const step: z.ZodType = z.lazy(() => {
  const common = {
    id: z.string().regex(identifier, 'A name of letters, digits and "_" was expected.'),
    description: text.optional(),
    depends_on: texts.optional(),
    modifiers: loose({
      retry: loose({ max_attempts: whole(1).optional() }).optional(),
      eval: texts.optional(),
    }).optional(),
  }
  return z.discriminatedUnion('kind', [
    loose({
      ...common,
      kind: z.literal('prompt'),
      prompt_task: text,
      input: stepInput.optional(),
      output_schema: text.optional(),
    }),
    loose({
      ...common,
      kind: z.literal('agent'),
      prompt_task: text,
      input: stepInput.optional(),
      tools: texts.optional(),
      termination: loose({ max_steps: whole(1).optional(), tool_called: text.optional() }).refine(
        ({ max_steps, tool_called }) => max_steps !== undefined || tool_called !== undefined,
        { error: 'max_steps or tool_called was expected.' },
      ),
      output_schema: text.optional(),
    }),
    loose({ ...common, kind: z.literal('tool'), tool: text, args: object.optional() }),
    // biome-ignore lint/suspicious/noThenProperty: the published name of the member; nobody awaits a schema.
    loose({ ...common, kind: z.literal('branch'), predicate, then: text, else: text.optional() }),
    loose({
      ...common,
      kind: z.literal('parallel'),
      branches: z.array(step).min(2),
      reduce: loose({ strategy: text, into: text }),
    }),
  ])
})

const composition = strict({
  version: z.literal(1),
  description: text.optional(),
  input_schema: text.optional(),
  output_schema: text.optional(),
  output: text.optional(),
  steps: z.array(step).min(1),
  engine: object.optional(),
})

const skill = z.union([
  text,
  strict({ path: text, preload: flag.optional() }),
  strict({ name: filled, description: filled, instructions: filled }),
])

function packOf(is: (typeof differences)[PackVersion]) {
  const { prompt, evaluation } = promptOf(is)
  const cost = z.number().min(0).optional()
  return strict({
    $schema: text.optional(),
    id: upTo(
      100,
      z.string().regex(/^[a-z][a-z0-9-]*$/u, 'Small letters, digits and "-" were expected, a letter first.'),
    ),
    name: upTo(200, filled),
    version,
    description: upTo(5_000).optional(),
    template_engine: strict({
      version: text,
      syntax: text,
      features: z
        .array(z.enum(['basic_substitution', 'fragments', 'conditionals', 'loops', 'filters']))
        .optional(),
    }),
    prompts: record(prompt, 1),
    fragments: record(text).optional(),
    tools: record(tool).optional(),
    metadata: loose({
      domain: text.optional(),
      language: z
        .string()
        .regex(/^[a-z]{2}$/u, 'A language code of two small letters was expected.')
        .optional(),
      tags: texts.optional(),
      cost_estimate: loose({ min_cost_usd: cost, max_cost_usd: cost, avg_cost_usd: cost }).optional(),
    }).optional(),
    compilation: loose({
      compiled_with: text,
      created_at: text,
      schema: text,
      source: text.optional(),
    }).optional(),
    evals: z.array(evaluation).optional(),
    workflow: strict({
      version: whole(1),
      entry: text,
      states: record(stateOf(is), 1),
      engine: is.budgetChecked ? loose({ budget: budget.optional() }).optional() : object.optional(),
    }).optional(),
    agents: strict({
      entry: text,
      members: record(
        strict({
          description: text.optional(),
          tags: texts.optional(),
          input_modes: texts.optional(),
          output_modes: texts.optional(),
          ...only(is.agentState, { state: text.optional() }),
        }),
        1,
      ),
    }).optional(),
    skills: z.array(skill).optional(),
    ...only(is.compositions, { compositions: record(composition).optional() }),
  })
}

/** The schema of each published version. */
export const packSchemas: Readonly<Record<PackVersion, z.ZodType>> = {
  '1.4.0': packOf(differences['1.4.0']),
  '1.5.0': packOf(differences['1.5.0']),
}
