import { z } from 'zod'
import { filePath } from '@/lib/nodes/config-schema'
import { readFileConfig } from '@/lib/nodes/read-file'
import { notDone } from './dry-run'
import { findFile } from './file-state'
import { locate } from './place'
import { actionOf, configOf, givenText, refusal } from './resolved'
import type { Runner } from './runner'
import { oneLine, textOf } from './words'

/** Largest file a workflow reads into its values. */
export const maxReadBytes = 1_048_576

const readDo = z.strictObject({ path: filePath })

export const readFileRunner: Runner = {
  async resolve(step) {
    const config = configOf(readFileConfig, step.node)
    return { path: await givenText(step, 'path', config.path, config.path_from) }
  },

  async describe(action, step, effects) {
    const { path } = actionOf(readDo, action, step.node.id)
    await locate(path, 'read', effects)
    const target = oneLine(path)
    return {
      action: {
        kind: 'read_file',
        node: step.node.id,
        visit: step.visit,
        do: { path },
        consequence: 'read_only',
        target,
        sentence: oneLine(`Read ${target}`),
      },
    }
  },

  async perform(action, effects) {
    const { path } = actionOf(readDo, action.do, action.node)
    if (effects.dryRun) return notDone({ path })
    const file = await findFile(await locate(path, 'read', effects), maxReadBytes)
    if (!file) throw refusal('file_not_found', `"${oneLine(path, 200)}" does not exist; check the path.`)
    const content = textOf(file.bytes)
    if (content === undefined) {
      throw refusal(
        'not_text',
        `"${oneLine(path, 200)}" is not UTF-8 text; only text files can be read into a run.`,
      )
    }
    return { output: { path, content, bytes: file.bytes.byteLength } }
  },
}
