import { z } from 'zod'
import { filePath } from '@/lib/nodes/config-schema'
import { readFileConfig } from '@/lib/nodes/read-file'
import { notDone } from './dry-run'
import { findFile } from './file-state'
import { locate, type Place } from './place'
import { actionOf, configOf, givenText, refusal } from './resolved'
import { EffectFailed, type Effects, type Runner } from './runner'
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
    await readable(path, effects)
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
    const place = await readable(path, effects)
    if (effects.dryRun) return notDone({ path })
    const file = await findFile(place, maxReadBytes)
    if (!file) throw notThere(path)
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

/** Where the file really lies, once the policy allows reading it. */
async function readable(path: string, effects: Effects): Promise<Place> {
  const place = await locate(path, 'read', effects)
  await effects.allow({ tool: 'fs.read', path: place.path })
  return place
}

/** Somebody may be about to put it there: an author who asks for retries waits for that. */
function notThere(path: string): EffectFailed {
  return new EffectFailed('file_not_found', `"${oneLine(path, 200)}" does not exist; check the path.`, {
    errorType: 'constraint_violation',
    retriable: true,
  })
}
