/*
 * The sections of an agentd file, as schemas: which members there are, of what type, within what bounds. Nodes are not
 * here; what they take depends on their type (fields.ts) and on their kind (lib/nodes). Schemas check and never change.
 */
import { z } from 'zod'
import { cronFault } from './cron'

const text = z.string().max(100_000, 'A text has at most 100,000 characters.')
const name = z
  .string()
  .min(1, 'A name was expected; the text is empty.')
  .max(200, 'A name has at most 200 characters.')
const texts = z.array(text)
const path = z
  .string()
  .min(1, 'A path was expected; the text is empty.')
  .max(4_096, 'A path has at most 4,096 characters.')
const whole = (least: number) => z.int().min(least)
const strict = z.strictObject

export const workflowHead = strict({ name, description: z.string().max(20_000).optional() })

export const startNode = strict({
  name,
  source: z.enum(['event', 'http', 'manual']),
  entry_node: name.optional(),
})

export const edge = strict({
  from: name,
  to: name,
  when: text.optional(),
  max_iterations: whole(1).optional(),
})

export const retry = strict({
  max_attempts: whole(1),
  backoff_ms: whole(0).optional(),
  on: z.enum(['any', 'transient']).optional(),
  jitter: z.number('A part of the delay was expected, such as 0.2.').min(0).optional(),
})

export const budget = strict({
  max_memory_mb: whole(0).optional(),
  max_cpu_secs: whole(0).optional(),
  max_run_time_secs: whole(0).optional(),
  max_fs_write_mb: whole(0).optional(),
  max_llm_tokens: whole(0).optional(),
})

export const policy = strict({
  fs: strict({
    read: texts.optional(),
    write: texts.optional(),
    delete: texts.optional(),
    list: texts.optional(),
  }).optional(),
  env: strict({ read_keys: texts.optional() }).optional(),
  http: strict({ urls: texts.optional(), methods: texts.optional() }).optional(),
  shell: strict({ commands: texts.optional() }).optional(),
  mcp: strict({
    servers: texts.optional(),
    tools: texts.optional(),
    resources: texts.optional(),
  }).optional(),
  rego: strict({
    inline: z.string().max(1_048_576, 'A policy has at most 1 MiB.').optional(),
    file: path.optional(),
    data: z.record(z.string(), z.json()).optional(),
    query: name.optional(),
  }).optional(),
})

export const backend = strict({
  name,
  provider: z.enum(['anthropic', 'openai', 'gemini', 'openai-compatible', 'unix', 'http', 'scripted']),
  model: name.optional(),
  api_key_env: name.optional(),
  base_url: path.optional(),
  path: path.optional(),
  max_tokens: whole(1).optional(),
})

export const mcpServer = strict({
  name,
  command: z.array(path).min(1, 'The program and its arguments were expected; the list is empty.'),
  allow_tools: texts.optional(),
  allow_resources: texts.optional(),
  env: z.record(z.string(), name).optional(),
})

const secretName = { name }
/** By `source`. `env` and `file` beside a name alone are the short form. */
export const secretShapes = {
  env: strict({ ...secretName, source: z.literal('env'), var: name }),
  file: strict({ ...secretName, source: z.literal('file'), path, trim: z.boolean().optional() }),
  command: strict({ ...secretName, source: z.literal('command'), argv: z.array(path).min(1) }),
  oauth2: strict({
    ...secretName,
    source: z.literal('oauth2'),
    token_url: path,
    client_id_env: name,
    client_secret_env: name,
    scopes: texts.optional(),
    extra_params: z.record(z.string(), text).optional(),
    auth_style: z.enum(['body', 'basic']).optional(),
    skew_secs: whole(0).optional(),
  }),
} as const
/** For a source that there is not: says which there are. */
export const anySecret = z.looseObject({
  ...secretName,
  source: z.enum(['env', 'file', 'command', 'oauth2']),
})
export const shortSecret = strict({ ...secretName, env: name.optional(), file: path.optional() })
/** For one that says in no form where it is found. */
export const sourcelessSecret = strict({
  ...secretName,
  source: name.optional(),
  var: name.optional(),
  path: path.optional(),
})

const startOf = { start_node: name }
export const triggerShapes = {
  cron: strict({
    type: z.literal('cron'),
    schedule: z
      .string()
      .max(200)
      .superRefine((schedule, context) => {
        const message = cronFault(schedule)
        if (message) context.addIssue({ code: 'custom', message })
      }),
    ...startOf,
  }),
  interval: strict({
    type: z.literal('interval'),
    every: z
      .string()
      .regex(/^0*[1-9]\d{0,8}\s*(s|m|h|d)$/, 'A duration was expected, such as 30s, 5m, 1h or 1d.'),
    ...startOf,
  }),
  fs_watch: strict({
    type: z.literal('fs_watch'),
    path,
    recursive: z.boolean().optional(),
    events: z.array(z.enum(['create', 'modify', 'remove', 'rename'])).optional(),
    debounce_ms: whole(0).max(86_400_000).optional(),
    ...startOf,
  }),
  'mcp.resource.updated': strict({
    type: z.literal('mcp.resource.updated'),
    server: name,
    resource: path,
    ...startOf,
  }),
  'mcp.resource.created': strict({
    type: z.literal('mcp.resource.created'),
    server: name,
    resource: path,
    ...startOf,
  }),
  'internal.event': strict({ type: z.literal('internal.event'), name, ...startOf }),
} as const

export const rateLimit = strict({
  capacity: whole(1),
  per_second: z.number().gt(0).optional(),
  refill_per_sec: z.number().gt(0).optional(),
})

export const httpRoute = strict({
  method: z
    .string()
    .regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32}$/, 'An HTTP method was expected, such as POST.'),
  path: z
    .string()
    .max(2_048, 'A path has at most 2,048 characters.')
    .regex(
      /^\/[^\s?#]*$/,
      'A path was expected that begins with "/" and has no query, such as /webhooks/github.',
    ),
  start_node: name,
  input_schema: path.optional(),
  auth: z
    .string()
    .regex(
      /^(none|mtls|(bearer|basic|hmac|oidc)(:\S+)?)$/,
      'none, bearer, basic, hmac, oidc or mtls was expected, with the name of a binding behind a colon where it has one: bearer:ops.',
    )
    .optional(),
  rate_limit: z.union([z.record(z.string(), z.json()), z.array(z.record(z.string(), z.json()))]).optional(),
  idempotency_key: name.optional(),
  idempotency_ttl_secs: whole(1).optional(),
})

const headerName = z
  .string()
  .regex(
    /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/,
    'The name of an HTTP header was expected, such as X-Signature.',
  )

export const auth = strict({
  bearer: z.record(z.string(), strict({ tokens_env: name.optional(), tokens: texts.optional() })).optional(),
  basic: z
    .record(z.string(), strict({ credentials_env: name.optional(), credentials: texts.optional() }))
    .optional(),
  hmac: z
    .record(
      z.string(),
      strict({
        secret_env: name.optional(),
        secret: text.optional(),
        header: headerName.optional(),
        prefix: text.optional(),
      }),
    )
    .optional(),
  oidc: z
    .record(
      z.string(),
      strict({
        issuer: path,
        audience: texts.optional(),
        jwks_json: text.optional(),
        jwks_file: path.optional(),
        subject_allowlist: texts.optional(),
        clock_skew_secs: whole(0).optional(),
        algorithms: z
          .array(
            z
              .string()
              .regex(
                /^(RS|ES|PS)(256|384|512)$|^EdDSA$/,
                'An asymmetric algorithm was expected, such as RS256.',
              ),
          )
          .min(1)
          .optional(),
      }),
    )
    .optional(),
})

export const server = strict({
  tls: strict({
    cert_file: path,
    key_file: path,
    client_auth: strict({ mode: z.enum(['required', 'none', 'optional']), ca_file: path }).optional(),
  }).optional(),
})

const logTarget = z
  .string()
  .regex(/^(stderr|stdout|file:\s*\S.*)$/i, 'stderr, stdout or file:PATH was expected.')

export const logging = strict({
  level: text.optional(),
  format: z.enum(['text', 'json']).optional(),
  target: logTarget.optional(),
  enabled: z.boolean().optional(),
  rotation: z.enum(['never', 'daily', 'hourly', 'minutely']).optional(),
  audit: strict({
    target: logTarget.optional(),
    redact_fields: texts.optional(),
    include_reason: z.boolean().optional(),
  }).optional(),
  otel: strict({
    endpoint: path,
    service_name: name.optional(),
    protocol: z.enum(['grpc']).optional(),
    resource_attrs: z.record(z.string(), text).optional(),
    sample_ratio: z.number().optional(),
  }).optional(),
})

export const signing = strict({
  required: z.boolean().optional(),
  public_key_pem: text.optional(),
  public_key_file: path.optional(),
  algorithm: z
    .string()
    .regex(/^ed25519$/i, 'ed25519 was expected.')
    .optional(),
})
