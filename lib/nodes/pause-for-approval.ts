import { z } from 'zod'
import { strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'

/** A role as workflows name it: `operator`, `operator:oncall`. */
export const roleName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$/, 'A role was expected, such as operator or operator:oncall.')

/** What silence means once the deadline has passed (NOTES 3.11). */
export const onSilence = z.union(
  [z.enum(['hold', 'deny', 'rollback', 'continue']), z.strictObject({ escalate_to: roleName })],
  { error: 'Expected hold, deny, rollback, continue or { "escalate_to": role }.' },
)

export const pauseForApprovalConfig = strictConfig({
  reason: z.string().max(500, 'A reason has at most 500 characters.').optional(),
  role: roleName.optional(),
  deadline_s: z
    .int()
    .min(1)
    .max(31_536_000, 'A deadline is at most one year, 31,536,000 seconds.')
    .optional(),
  on_silence: onSilence.optional(),
})

export type PauseForApprovalConfig = z.infer<typeof pauseForApprovalConfig>

export const pauseForApproval: NodeKind<PauseForApprovalConfig> = {
  kind: 'pause_for_approval',
  title: 'Wait for a person',
  summary: 'Holds the run here until a person lets it go on.',
  family: 'control',
  config: pauseForApprovalConfig,
  fields: {
    reason: {
      label: 'Reason',
      help: 'What the person should look at before letting it go on.',
      example: 'Review the prepared change before it is applied.',
    },
    role: { label: 'Role', help: 'Who may decide; without it, an operator.', example: 'operator:oncall' },
    deadline_s: { label: 'Deadline', help: 'Seconds until silence counts as an answer.', example: 3_600 },
    on_silence: {
      label: 'On silence',
      help: 'What happens when nobody answers in time; without it the run goes on waiting.',
      example: 'hold',
    },
  },
  labels: () => [],
  consequence: () => 'read_only',
  timeoutS: 30,
}
