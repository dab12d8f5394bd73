/*
 * What putting a path back would make of it, for a person who may decide on it: what stands there now, beside what its
 * checkpoint sealed. Text is shown by its lines. What is no text, or more of it than anybody reads, by size and hash.
 */
import { sha256 } from '@/lib/base/hash'
import { type PathStand, type PutBack, putBackTextMaxBytes } from '@/lib/rollback/terms'
import { type PathState, sealedPlace, sealedState, stateOf } from './file-state'
import type { Effects, Snapshot } from './runner'
import { oneLine, textOf } from './words'

/** Reads only. Throws EffectFailed `path_moved`, and why a path cannot be read. */
export async function pathPutBack(name: string, snapshot: Snapshot, effects: Effects): Promise<PutBack> {
  const sealed = sealedState(snapshot)
  const sides = [await stateOf(await sealedPlace(name, sealed, effects)), sealed].map(sideOf)
  const [now, after] = sides as [Side, Side]
  return {
    of: 'path',
    target: oneLine(name),
    now: now.stand,
    after: after.stand,
    ...shownOf(now.bytes, after.bytes),
  }
}

interface Side {
  stand: PathStand
  /** Of a file. */
  bytes?: Buffer
}

function sideOf(state: PathState): Side {
  if (state.stood !== 'file') return { stand: { stands: state.stood } }
  const bytes = Buffer.from(state.bytes, 'base64')
  return {
    stand: { stands: 'file', sizeBytes: bytes.byteLength, hash: sha256(bytes), mode: state.mode },
    bytes,
  }
}

/** A side that is no file has no lines. */
function shownOf(now?: Buffer, after?: Buffer): Pick<PutBack & { of: 'path' }, 'text' | 'withheld'> {
  if (!now && !after) return {}
  const empty = Buffer.alloc(0)
  const [was, becomes] = [now ?? empty, after ?? empty]
  if (Math.max(was.byteLength, becomes.byteLength) > putBackTextMaxBytes) return { withheld: 'too_large' }
  const text = { now: textOf(was), after: textOf(becomes) }
  if (text.now === undefined || text.after === undefined) return { withheld: 'binary' }
  return { text: { now: text.now, after: text.after } }
}
