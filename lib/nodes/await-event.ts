/*
 * Waits for an event from outside: a state of external orchestration (RFC 0009), or a tool that a person answers.
 * The events are the labels of the edges that leave the node, or those it lists.
 */
import { z } from 'zod'
import { strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'
import { promptMembers } from './prompt-state'

export const awaitEventConfig = strictConfig({
  /** One sentence: what is waited for. May hold `{{…}}` as templates do. */
  question: z.string().min(1).max(2_000),
  role: z.string().min(1).max(100).optional(),
  /** Events that may be given, where no edge says. */
  events: z.array(z.string().min(1).max(100)).max(64).optional(),
  prompt: promptMembers.prompt.optional(),
  template: promptMembers.template.optional(),
  variables: promptMembers.variables,
  persistence: z.enum(['transient', 'persistent']).optional(),
  /** Slots that whoever gives the event may write. */
  artifacts: z.array(z.string()).max(256).optional(),
  /** Where the arguments of a tool call stand, which the question may hold. */
  args_from: z.string().optional(),
})

export type AwaitEventConfig = z.infer<typeof awaitEventConfig>

export const awaitEvent: NodeKind<AwaitEventConfig> = {
  kind: 'await_event',
  title: 'Wait for an event',
  summary: 'Waits until a person or another system says what happened; the event picks the way on.',
  family: 'control',
  config: awaitEventConfig,
  fields: {
    question: {
      label: 'Question',
      help: 'What is waited for, in one sentence.',
      example: 'May the proposed fix be applied?',
    },
    role: { label: 'Role', help: 'Who may answer; without it, an operator.', example: 'operator:oncall' },
    events: {
      label: 'Events',
      help: 'What may be answered, where no edge says.',
      example: ['Approved', 'Rejected'],
    },
    prompt: { label: 'Prompt', help: 'The prompt’s name in the pack.' },
    template: {
      label: 'Template',
      help: 'What is shown with the question; {{artifacts.name}} is an artifact.',
    },
    variables: { label: 'Variables', help: 'What of the run’s input the template may use.' },
    persistence: { label: 'Conversation', help: 'Kept on entry (persistent), or begun anew (transient).' },
    artifacts: { label: 'Artifacts', help: 'The slots that whoever answers may write.' },
    args_from: { label: 'Arguments', help: 'Where the call’s arguments stand.', internal: true },
  },
  labels: ({ events }) => events ?? 'any',
  consequence: () => 'read_only',
  timeoutS: 60,
}
