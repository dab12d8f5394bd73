import { z } from 'zod'
import { dottedPath, oneOf, strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'

/** The name of an environment variable. */
export const envKey = z
  .string()
  .min(1, 'The name of an environment variable was expected; the text is empty.')
  .max(256, 'The name of an environment variable has at most 256 characters.')
  .refine((text) => !text.includes('=') && !text.includes('\0'), {
    error: 'The name of an environment variable holds no "=" and no NUL character.',
  })

export const readEnvConfig = strictConfig({
  key: envKey.optional(),
  key_from: dottedPath.optional(),
}).superRefine(oneOf('key', 'key_from'))

export type ReadEnvConfig = z.infer<typeof readEnvConfig>

export const readEnv: NodeKind<ReadEnvConfig> = {
  kind: 'read_env',
  title: 'Read an environment variable',
  summary: 'Reads a variable of the environment Holdpoint runs in, and says when it is not set.',
  family: 'input',
  config: readEnvConfig,
  fields: {
    key: {
      label: 'Variable',
      help: 'Its name. What it holds becomes a value of the run that people can read; secrets go into headers instead.',
      example: 'DOCS_ROOT',
    },
    key_from: {
      label: 'Variable from',
      help: 'Where its name stands among the run’s values.',
      internal: true,
    },
  },
  labels: () => [],
  consequence: () => 'read_only',
  timeoutS: 10,
}
