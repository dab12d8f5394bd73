import { z } from 'zod'
import { childCheckpoint } from './call'
import { dottedPath, strictConfig, workflowPath } from './config-schema'
import type { NodeKind } from './node-kind'

/** Items of one `map`, whatever its author allows. */
export const maxMapItems = 10_000

export const mapConfig = strictConfig({
  items_from: dottedPath,
  workflow: workflowPath,
  max_items: z.int().min(1, '"max_items" is at least 1.').max(maxMapItems),
  max_concurrent: z.int().min(1, '"max_concurrent" is at least 1.').max(64).optional(),
  start: z.string().min(1).max(128).optional(),
})

export type MapConfig = z.infer<typeof mapConfig>

export const map: NodeKind<MapConfig> = {
  kind: 'map',
  title: 'Run a workflow for each item',
  summary: 'Runs one workflow for each element of a list, a bounded number at once.',
  family: 'control',
  config: mapConfig,
  fields: {
    items_from: {
      label: 'Items from',
      help: 'Where the list stands among the run’s values.',
      example: 'accounts.parsed',
    },
    workflow: {
      label: 'Workflow',
      help: 'Runs once for each element, which is its input.',
      example: 'workflows/score-account.toml',
    },
    max_items: {
      label: 'At most',
      help: 'A longer list is an error; it is never cut.',
      example: 500,
    },
    max_concurrent: { label: 'At once', help: 'How many run at the same time; 4 without it.', example: 8 },
    start: { label: 'Start', help: 'Which of its starts; without it, the first.', example: 'main' },
  },
  labels: () => ['error'],
  consequence: () => 'reversible',
  timeoutS: 86_400,
  checkpoint: childCheckpoint,
}
