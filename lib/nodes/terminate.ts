import type { z } from 'zod'
import { strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'

export const terminateConfig = strictConfig({})

export type TerminateConfig = z.infer<typeof terminateConfig>

export const terminate: NodeKind<TerminateConfig> = {
  kind: 'terminate',
  title: 'End the run',
  summary: 'Ends the run as completed, without a value.',
  family: 'control',
  config: terminateConfig,
  fields: {},
  labels: () => [],
  consequence: () => 'read_only',
  timeoutS: 10,
}
