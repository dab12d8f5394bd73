import { z } from 'zod'
import { canonicalJson } from '@/lib/base/canonical-json'
import { hashJson } from '@/lib/base/hash'
import type { Json } from '@/lib/base/json'
import { filePath } from '@/lib/nodes/config-schema'
import { narrowed } from '@/lib/nodes/node-kind'
import { fileMode, writeFileConfig } from '@/lib/nodes/write-file'
import { notDone } from './dry-run'
import {
  findFile,
  isNotBegun,
  maxFileBytes,
  modeText,
  putBack,
  sealable,
  seenState,
  stagerOf,
  stateOf,
  writeWhole,
} from './file-state'
import { pathPutBack } from './path-put-back'
import { locate, type Place } from './place'
import { actionOf, configOf, definedOnly, given, givenText, refusal } from './resolved'
import type { Effects, Preview, Runner } from './runner'
import { bytesInWords, maxPreviewBytes, oneLine, previewText, textOf } from './words'

const writeDo = z.strictObject({ path: filePath, content: z.string(), mode: fileMode.optional() })

type WriteDo = z.infer<typeof writeDo>

export const writeFileRunner: Runner = {
  async resolve(step) {
    const config = configOf(writeFileConfig, step.node)
    const path = await givenText(step, 'path', config.path, config.path_from)
    const content = await given(step, 'content', config.content, config.content_from)
    const isFixed = config.content !== undefined
    return definedOnly({ path, content: asText(content, isFixed), mode: config.mode })
  },

  async describe(action, step, effects) {
    const wanted = checked(actionOf(writeDo, action, step.node.id))
    const bytes = Buffer.from(wanted.content)
    const before = await findFile(await writable(wanted.path, effects), maxFileBytes)
    const target = oneLine(wanted.path)
    return {
      action: {
        kind: 'write_file',
        node: step.node.id,
        visit: step.visit,
        do: definedOnly(wanted),
        consequence: narrowed('reversible', step.node),
        target,
        sentence: oneLine(
          `${before ? 'Replace' : 'Create'} ${target} with ${bytesInWords(bytes.byteLength)}`,
        ),
        undo: 'restore',
        undoSentence: before
          ? `Put back its ${bytesInWords(before.bytes.byteLength)} and mode ${modeText(before.mode)}`
          : 'Remove the file and the folders made for it',
      },
      preview: previewOf(target, before?.bytes, bytes),
    }
  },

  async snapshot(action, effects) {
    const { path } = actionOf(writeDo, action.do, action.node)
    const state = await stateOf(await locate(path, 'write', effects))
    if (state.stood === 'folder')
      throw refusal('not_a_file', `"${oneLine(path, 200)}" is a folder; name a file.`)
    return sealable(state)
  },

  async perform(action, effects, snapshot) {
    const wanted = checked(actionOf(writeDo, action.do, action.node))
    const bytes = Buffer.from(wanted.content)
    const place = await writable(wanted.path, effects)
    if (effects.dryRun) return notDone({ path: wanted.path, bytes: bytes.byteLength })
    await effects.spendBytes(bytes.byteLength)
    const stager = stagerOf(effects, action.node)
    const state = await writeWhole(place, bytes, modeOf(wanted), stager, effects.signal)
    return {
      output: { path: wanted.path, bytes: bytes.byteLength, written: true },
      writtenBytes: bytes.byteLength,
      ...(snapshot && { changed: { found: snapshot.hash, left: hashJson(state) } }),
    }
  },

  async probe(action, snapshot, effects) {
    const wanted = actionOf(writeDo, action.do, action.node)
    const place = await locate(wanted.path, 'write', effects)
    const found = await findFile(place, maxFileBytes)
    const mode = modeOf(wanted)
    if (found?.bytes.equals(Buffer.from(wanted.content)) && (mode === undefined || found.mode === mode)) {
      return 'took_effect'
    }
    return isNotBegun(await stateOf(place), snapshot) ? 'not_taken' : 'unknown'
  },

  async stateHash(action, snapshot, effects) {
    const { path } = actionOf(writeDo, action.do, action.node)
    return seenState(await locate(path, 'write', effects), snapshot)
  },

  async undoPreview(action, snapshot, effects) {
    const { path } = actionOf(writeDo, action.do, action.node)
    return pathPutBack(path, snapshot, effects)
  },

  async undo(action, snapshot, effects, rollback) {
    const { path } = actionOf(writeDo, action.do, action.node)
    return putBack(path, snapshot, effects, stagerOf(effects, action.node), rollback)
  },
}

/**
 * A text as it is. Any other value as JSON: one that the author wrote down spread over lines that people can read in a
 * diff, one of the run on a single line, as agentd writes it.
 */
function asText(content: Json, isFixed: boolean): string {
  if (typeof content === 'string') return content
  return isFixed ? `${JSON.stringify(content, null, 2)}\n` : canonicalJson(content)
}

/** Where the file lies, or shall lie, once the policy allows writing it. */
async function writable(path: string, effects: Effects): Promise<Place> {
  const place = await locate(path, 'write', effects)
  await effects.allow({ tool: 'fs.write', path: place.path })
  return place
}

function modeOf(wanted: WriteDo): number | undefined {
  return wanted.mode === undefined ? undefined : Number.parseInt(wanted.mode, 8)
}

function checked(wanted: WriteDo): WriteDo {
  if (Buffer.byteLength(wanted.content) <= maxFileBytes) return wanted
  throw refusal(
    'too_large',
    `The content for "${oneLine(wanted.path, 200)}" is larger than 16 MiB, the most that is written.`,
  )
}

function previewOf(target: string, before: Buffer | undefined, after: Buffer): Preview {
  const title = `Change to ${target}`
  const was = before === undefined ? '' : textOf(before)
  const becomes = textOf(after)
  if (was === undefined || becomes === undefined) {
    const now = before === undefined ? 'does not exist' : `holds ${bytesInWords(before.byteLength)}`
    return {
      show: 'text',
      title,
      text: `The file ${now}${was === undefined ? ' that are not text' : ''}. It would hold ${bytesInWords(after.byteLength)}${becomes === undefined ? ' that are not text' : ''}.`,
    }
  }
  if (Math.max(before?.byteLength ?? 0, after.byteLength) > maxPreviewBytes) {
    return {
      show: 'text',
      title,
      text: previewText(`Too long for a comparison; the new content begins so:\n\n${becomes}`),
    }
  }
  return { show: 'diff', title, before: was, after: becomes, ...(before === undefined && { absent: true }) }
}
