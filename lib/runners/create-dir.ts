import { z } from 'zod'
import { hashJson } from '@/lib/base/hash'
import { filePath } from '@/lib/nodes/config-schema'
import { createDirConfig } from '@/lib/nodes/create-dir'
import { narrowed } from '@/lib/nodes/node-kind'
import { notDone } from './dry-run'
import {
  givenUp,
  isNotBegun,
  makeWhole,
  type PathState,
  putBack,
  sealable,
  seenState,
  stagerOf,
  stateOf,
} from './file-state'
import { pathPutBack } from './path-put-back'
import { locate, type Place } from './place'
import { actionOf, configOf, givenText, refusal } from './resolved'
import type { Effects, Runner } from './runner'
import { oneLine } from './words'

const createDo = z.strictObject({ path: filePath })

export const createDirRunner: Runner = {
  async resolve(step) {
    const config = configOf(createDirConfig, step.node)
    return { path: await givenText(step, 'path', config.path, config.path_from) }
  },

  async describe(action, step, effects) {
    const { path } = actionOf(createDo, action, step.node.id)
    await makeable(path, effects)
    const state = await folderState(path, effects)
    const target = oneLine(path)
    return {
      action: {
        kind: 'create_dir',
        node: step.node.id,
        visit: step.visit,
        do: { path },
        consequence: narrowed('reversible', step.node),
        target,
        sentence: oneLine(
          state.stood === 'folder' ? `Leave the folder ${target} as it is` : `Create the folder ${target}`,
        ),
        undo: 'restore',
        undoSentence:
          state.stood === 'folder'
            ? 'Nothing to undo'
            : 'Remove the folders it made, as long as they are empty',
      },
    }
  },

  async snapshot(action, effects) {
    const { path } = actionOf(createDo, action.do, action.node)
    return sealable(await folderState(path, effects))
  },

  async perform(action, effects, snapshot) {
    const { path } = actionOf(createDo, action.do, action.node)
    const place = await makeable(path, effects)
    if (effects.dryRun) return notDone({ path })
    if (effects.signal.aborted) throw givenUp(oneLine(path, 200))
    const isNew = await makeWhole(place)
    // As agentd has it, the folder is "created" when it stands afterwards; that it stood before is said beside it.
    const output = { path, created: true, ...(isNew ? {} : { existed: true }) }
    const left: PathState = { stood: 'folder', path: place.path }
    return { output, ...(snapshot && { changed: { found: snapshot.hash, left: hashJson(left) } }) }
  },

  async probe(action, snapshot, effects) {
    const { path } = actionOf(createDo, action.do, action.node)
    const state = await stateOf(await locate(path, 'write', effects))
    if (state.stood === 'folder') return 'took_effect'
    return isNotBegun(state, snapshot) ? 'not_taken' : 'unknown'
  },

  async stateHash(action, snapshot, effects) {
    const { path } = actionOf(createDo, action.do, action.node)
    return seenState(await locate(path, 'write', effects), snapshot)
  },

  async undoPreview(action, snapshot, effects) {
    const { path } = actionOf(createDo, action.do, action.node)
    return pathPutBack(path, snapshot, effects)
  },

  async undo(action, snapshot, effects, rollback) {
    const { path } = actionOf(createDo, action.do, action.node)
    return putBack(path, snapshot, effects, stagerOf(effects, action.node), rollback)
  },
}

async function folderState(path: string, effects: Effects) {
  const state = await stateOf(await locate(path, 'write', effects))
  if (state.stood !== 'file') return state
  throw refusal('not_a_folder', `"${oneLine(path, 200)}" is a file; choose another path for the folder.`)
}

/** Where the folder lies, or shall lie, once the policy allows making it. */
async function makeable(path: string, effects: Effects): Promise<Place> {
  const place = await locate(path, 'write', effects)
  await effects.allow({ tool: 'fs.write', path: place.path })
  return place
}
