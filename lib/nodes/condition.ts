import type { z } from 'zod'
import { dottedPath, strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'

export const conditionConfig = strictConfig({ expr: dottedPath })

export type ConditionConfig = z.infer<typeof conditionConfig>

export const condition: NodeKind<ConditionConfig> = {
  kind: 'condition',
  title: 'Decide yes or no',
  summary: 'Takes the edge "true" or "false" by a value; what is empty, zero or missing counts as false.',
  family: 'control',
  config: conditionConfig,
  fields: {
    expr: {
      label: 'Value',
      help: 'Where the value stands among the run’s values.',
      example: 'trigger.flag',
    },
  },
  labels: () => ['true', 'false'],
  consequence: () => 'read_only',
  timeoutS: 10,
}
