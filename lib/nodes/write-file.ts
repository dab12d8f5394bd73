import { z } from 'zod'
import { dottedPath, filePath, oneOf, strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'

/** Permission bits as people write them: three or four octal digits, no set-user-id and the like. */
export const fileMode = z
  .string()
  .regex(/^0?[0-7]{3}$/, 'A file mode was expected as three octal digits, such as 0644.')

export const writeFileConfig = strictConfig({
  path: filePath.optional(),
  path_from: dottedPath.optional(),
  content: z.json().optional(),
  content_from: dottedPath.optional(),
  mode: fileMode.optional(),
})
  .superRefine(oneOf('path', 'path_from'))
  .superRefine(oneOf('content', 'content_from'))

export type WriteFileConfig = z.infer<typeof writeFileConfig>

export const writeFile: NodeKind<WriteFileConfig> = {
  kind: 'write_file',
  title: 'Write a file',
  summary: 'Writes a text, or any value as JSON, to a file in one step; missing folders are made.',
  family: 'action',
  config: writeFileConfig,
  fields: {
    path: {
      label: 'Path',
      help: 'The file to write; a relative path starts in the installation’s first folder.',
      example: 'configs/router.conf',
    },
    path_from: {
      label: 'Path from',
      help: 'Where the path stands among the run’s values, instead of a fixed path.',
      example: 'trigger.output_path',
    },
    content: {
      label: 'Content',
      help: 'The text to write; a value that is no text is written as JSON.',
      example: 'hostname edge-router-07\n',
    },
    content_from: {
      label: 'Content from',
      help: 'Where the content stands among the run’s values, instead of a fixed text.',
      example: 'render.rendered',
    },
    mode: {
      label: 'Mode',
      help: 'Permissions of the file; without it an existing file keeps its own and a new one gets 0644.',
      example: '0644',
    },
  },
  labels: () => [],
  consequence: () => 'reversible',
  timeoutS: 30,
  checkpoint: {
    holds: 'The file’s bytes and mode before the write, or that it did not exist.',
    undo: 'Puts back the bytes and mode byte for byte, or removes the file and the folders made for it.',
  },
}
