import { z } from 'zod'
import { strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'

/** What a run failed for when its author gave no reason. */
export const defaultFailReason = 'workflow failed'

export const failConfig = strictConfig({
  reason: z.string().max(10_000, 'A reason has at most 10,000 characters.').optional(),
})

export type FailConfig = z.infer<typeof failConfig>

export const fail: NodeKind<FailConfig> = {
  kind: 'fail',
  title: 'Fail the run',
  summary: 'Ends the run as failed, for a reason its author gives.',
  family: 'control',
  config: failConfig,
  fields: {
    reason: {
      label: 'Reason',
      help: 'Why the run fails, for the people who read its outcome.',
      example: 'The input does not fit its schema.',
    },
  },
  labels: () => [],
  consequence: () => 'read_only',
  timeoutS: 10,
}
