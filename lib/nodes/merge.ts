import type { z } from 'zod'
import { strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'

export const mergeConfig = strictConfig({})

export type MergeConfig = z.infer<typeof mergeConfig>

export const merge: NodeKind<MergeConfig> = {
  kind: 'merge',
  title: 'Join branches',
  summary: 'Does nothing; several edges come together here and one goes on.',
  family: 'control',
  config: mergeConfig,
  fields: {},
  labels: () => [],
  consequence: () => 'read_only',
  timeoutS: 10,
}
