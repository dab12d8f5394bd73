import type { z } from 'zod'
import { dottedPath, strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'

export const parseJsonConfig = strictConfig({ input_from: dottedPath })

export type ParseJsonConfig = z.infer<typeof parseJsonConfig>

export const parseJson: NodeKind<ParseJsonConfig> = {
  kind: 'parse_json',
  title: 'Parse JSON',
  summary: 'Reads a text as JSON, so that later steps can reach into it.',
  family: 'input',
  config: parseJsonConfig,
  fields: {
    input_from: {
      label: 'Text from',
      help: 'Where the JSON text stands among the run’s values.',
      example: 'load.content',
    },
  },
  labels: () => [],
  consequence: () => 'read_only',
  timeoutS: 10,
}
