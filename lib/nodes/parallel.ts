import { z } from 'zod'
import { callConfig, childCheckpoint } from './call'
import { strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'

export const maxBranches = 64

export const parallelConfig = strictConfig({
  branches: z
    .array(callConfig)
    .min(1, 'At least one branch was expected.')
    .max(maxBranches, `At most ${maxBranches} branches are accepted.`),
})

export type ParallelConfig = z.infer<typeof parallelConfig>

export const parallel: NodeKind<ParallelConfig> = {
  kind: 'parallel',
  title: 'Run workflows side by side',
  summary: 'Runs several workflows at once, each as a run of its own, and goes on when all have ended.',
  family: 'control',
  config: parallelConfig,
  fields: {
    branches: {
      label: 'Branches',
      help: 'One workflow each, with its input and start.',
      example: [{ workflow: 'workflows/enrich-a.toml', input_from: 'trigger' }],
    },
  },
  labels: () => ['error'],
  consequence: () => 'reversible',
  timeoutS: 86_400,
  checkpoint: childCheckpoint,
}
