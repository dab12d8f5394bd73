import type { z } from 'zod'
import { dottedPath, filePath, oneOf, strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'

export const createDirConfig = strictConfig({
  path: filePath.optional(),
  path_from: dottedPath.optional(),
}).superRefine(oneOf('path', 'path_from'))

export type CreateDirConfig = z.infer<typeof createDirConfig>

export const createDir: NodeKind<CreateDirConfig> = {
  kind: 'create_dir',
  title: 'Create a folder',
  summary: 'Makes a folder and the folders above it; one that is there already stays as it is.',
  family: 'action',
  config: createDirConfig,
  fields: {
    path: {
      label: 'Path',
      help: 'The folder to make; a relative path starts in the installation’s first folder.',
      example: 'reports/2026',
    },
    path_from: {
      label: 'Path from',
      help: 'Where the path stands among the run’s values, instead of a fixed path.',
      example: 'trigger.dir',
    },
  },
  labels: () => [],
  consequence: () => 'reversible',
  timeoutS: 30,
  checkpoint: {
    holds: 'Which of the folders did not exist.',
    undo: 'Removes the folders it made, as long as they are empty.',
  },
}
