import { z } from 'zod'
import { dottedPath, strictConfig, workflowPath } from './config-schema'
import type { NodeKind } from './node-kind'

export const callConfig = strictConfig({
  workflow: workflowPath,
  input_from: dottedPath.optional(),
  start: z.string().min(1).max(128).optional(),
})

export type CallConfig = z.infer<typeof callConfig>

/** What a call takes back: the runs it began, each by its own checkpoints. */
export const childCheckpoint = {
  holds: 'Which workflow was run; every consequential step of it has a checkpoint of its own.',
  undo: 'Rolls the child run back, step by step.',
}

export const call: NodeKind<CallConfig> = {
  kind: 'call',
  title: 'Run another workflow',
  summary: 'Runs a workflow as a run of its own, under what is left of this run’s time, and waits for it.',
  family: 'control',
  config: callConfig,
  fields: {
    workflow: {
      label: 'Workflow',
      help: 'Its name in the library, or its path as the author knows it; never from the run’s values.',
      example: 'workflows/enrich.toml',
    },
    input_from: {
      label: 'Input from',
      help: 'Where its input stands among the run’s values; without it, this run’s own input.',
      example: 'classify.parsed',
    },
    start: { label: 'Start', help: 'Which of its starts; without it, the first.', example: 'main' },
  },
  labels: () => ['error'],
  // Whether the child reads only is known once it is loaded; until then it is not called safe.
  consequence: () => 'reversible',
  timeoutS: 86_400,
  checkpoint: childCheckpoint,
}
