import type { z } from 'zod'
import { dottedPath, filePath, oneOf, strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'

export const readFileConfig = strictConfig({
  path: filePath.optional(),
  path_from: dottedPath.optional(),
}).superRefine(oneOf('path', 'path_from'))

export type ReadFileConfig = z.infer<typeof readFileConfig>

export const readFile: NodeKind<ReadFileConfig> = {
  kind: 'read_file',
  title: 'Read a file',
  summary: 'Reads a text file of at most 1 MiB from one of the workflow’s folders.',
  family: 'input',
  config: readFileConfig,
  fields: {
    path: {
      label: 'Path',
      help: 'The file to read; a relative path starts in the installation’s first folder.',
      example: 'configs/router.conf',
    },
    path_from: {
      label: 'Path from',
      help: 'Where the path stands among the run’s values, instead of a fixed path.',
      example: 'trigger.path',
    },
  },
  labels: () => [],
  consequence: () => 'read_only',
  timeoutS: 30,
}
