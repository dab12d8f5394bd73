import type { z } from 'zod'
import { dottedPath, strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'

export const diffComputeConfig = strictConfig({ left_from: dottedPath, right_from: dottedPath })

export type DiffComputeConfig = z.infer<typeof diffComputeConfig>

export const diffCompute: NodeKind<DiffComputeConfig> = {
  kind: 'diff_compute',
  title: 'Compare two values',
  summary:
    'Says what was added, removed and changed between two values, by path; lists are compared by position.',
  family: 'transform',
  config: diffComputeConfig,
  fields: {
    left_from: {
      label: 'Before',
      help: 'Where the earlier value stands among the run’s values.',
      example: 'fetch_old.parsed',
    },
    right_from: {
      label: 'After',
      help: 'Where the later value stands among the run’s values.',
      example: 'fetch_new.parsed',
    },
  },
  labels: () => [],
  consequence: () => 'read_only',
  timeoutS: 10,
}
