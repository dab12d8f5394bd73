import { z } from 'zod'
import { dottedPath, strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'

export const jsonSelectConfig = strictConfig({
  input_from: dottedPath,
  /** Empty: the value itself. */
  path: z.string().max(1_024, 'A path has at most 1,024 characters.'),
})

export type JsonSelectConfig = z.infer<typeof jsonSelectConfig>

export const jsonSelect: NodeKind<JsonSelectConfig> = {
  kind: 'json_select',
  title: 'Select from JSON',
  summary: 'Takes one part out of a value and says whether it was there.',
  family: 'transform',
  config: jsonSelectConfig,
  fields: {
    input_from: {
      label: 'Value from',
      help: 'Where the value stands among the run’s values.',
      example: 'body.parsed',
    },
    path: {
      label: 'Path',
      help: 'The part to take, as a dotted path inside that value; an empty one takes all of it.',
      example: 'user.name',
    },
  },
  labels: () => [],
  consequence: () => 'read_only',
  timeoutS: 10,
}
