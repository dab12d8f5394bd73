import type { z } from 'zod'
import { dottedPath, strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'

export const switchConfig = strictConfig({ expr: dottedPath })

export type SwitchConfig = z.infer<typeof switchConfig>

export const switchKind: NodeKind<SwitchConfig> = {
  kind: 'switch',
  title: 'Choose by a value',
  summary:
    'Takes the edge whose label is the value; numbers, true, false and null are labels as they are written.',
  family: 'control',
  config: switchConfig,
  fields: {
    expr: {
      label: 'Value',
      help: 'Where the value stands among the run’s values.',
      example: 'analyze.decision',
    },
  },
  labels: () => 'any',
  consequence: () => 'read_only',
  timeoutS: 10,
}
