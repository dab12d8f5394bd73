import { Problem } from '@/lib/base/problem'

/*
 * A plain tar file (POSIX ustar) in one spelling only: regular files, mode 0644, owner 0, time 0, zeros for padding, two
 * empty blocks at the end. So the file follows from the names and contents byte for byte, and a reader that insists on
 * this spelling covers every byte: there is none left that could be changed without notice. Any tar program opens it.
 *
 *   header (512) │ content │ zeros up to 512 │ header │ … │ 1024 zeros
 */
const blockBytes = 512
const nameMaxBytes = 100
/** Entries of one file. A bundle has one for each value and a handful besides. */
const entriesMax = 200_000

export interface TarEntry {
  name: string
  content: Uint8Array
}

/** An entry whose size is known before its content is read. */
export interface TarPart {
  name: string
  /** Bytes. */
  size: number
  content(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

/** Bytes of the file that these entries make. */
export function tarBytes(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total + blockBytes + size + paddingOf(size), 2 * blockBytes)
}

/**
 * The file in pieces, in order; each content is read when its turn comes. Names are ASCII and at most 100 characters
 * long. Throws a RangeError when a content is not as long as was said: the file is then cut off, and nobody takes it.
 */
export async function* tarStream(parts: readonly TarPart[]): AsyncGenerator<Uint8Array> {
  for (const { name, size, content } of parts) {
    yield header(name, size)
    let sent = 0
    for await (const piece of content()) {
      sent += piece.length
      if (sent > size) break
      yield piece
    }
    if (sent !== size)
      throw new RangeError(`The entry "${name}" has ${sent} bytes and was said to have ${size}`)
    if (paddingOf(size) > 0) yield Buffer.alloc(paddingOf(size))
  }
  yield Buffer.alloc(2 * blockBytes)
}

/**
 * Reads a file of this spelling. Throws Problem `bundle_invalid` that names the first entry whose frame is not exactly
 * as `tarPieces` writes it.
 */
export function readTar(file: Uint8Array): TarEntry[] {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
  const entries: TarEntry[] = []
  let at = 0
  for (;;) {
    const place = placeOf(entries)
    if (at + blockBytes > bytes.length) broken(place.entry, `The file ends in the middle of ${place.words}`)
    const block = bytes.subarray(at, at + blockBytes)
    if (block[0] === 0) break
    const name = textField(block, 0, nameMaxBytes)
    const size = octalField(block, 124, 12)
    if (size === undefined || !/^[\x21-\x7e]+$/.test(name) || !header(name, size).equals(block)) {
      broken(place.entry, `The tar header of ${place.words} is not as a bundle has it`)
    }
    if (entries.length === entriesMax) broken('', `The file has more than ${entriesMax} entries`)
    const end = at + blockBytes + size
    if (end + paddingOf(size) > bytes.length)
      broken(name, `The file ends in the middle of the entry "${name}"`)
    if (!isZero(bytes.subarray(end, end + paddingOf(size))))
      broken(name, `The padding after the entry "${name}" was changed`)
    entries.push({ name, content: bytes.subarray(at + blockBytes, end) })
    at = end + paddingOf(size)
  }
  if (bytes.length - at !== 2 * blockBytes || !isZero(bytes.subarray(at))) {
    broken(
      placeOf(entries).entry,
      `What follows the last entry "${entries.at(-1)?.name ?? ''}" is not the end of a bundle`,
    )
  }
  return entries
}

function header(name: string, size: number): Buffer {
  if (name.length > nameMaxBytes) throw new RangeError(`"${name}" is too long for an entry's name`)
  const block = Buffer.alloc(blockBytes)
  block.write(name, 0, 'latin1')
  block.write('0000644\0', 100, 'latin1')
  block.write('0000000\0', 108, 'latin1')
  block.write('0000000\0', 116, 'latin1')
  block.write(`${size.toString(8).padStart(11, '0')}\0`, 124, 'latin1')
  block.write('00000000000\0', 136, 'latin1')
  block.write('        ', 148, 'latin1')
  block.write('0', 156, 'latin1')
  block.write('ustar\x0000', 257, 'latin1')
  // The checksum is the sum of all bytes, with blanks where it will stand.
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}

function paddingOf(size: number): number {
  return (blockBytes - (size % blockBytes)) % blockBytes
}

function textField(block: Buffer, at: number, length: number): string {
  const field = block.subarray(at, at + length)
  const end = field.indexOf(0)
  return field.toString('latin1', 0, end < 0 ? length : end)
}

function octalField(block: Buffer, at: number, length: number): number | undefined {
  const text = textField(block, at, length)
  return /^[0-7]{11}$/.test(text) ? Number.parseInt(text, 8) : undefined
}

function isZero(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0)
}

/** The entry that comes next, by the one before it: its own name cannot be believed yet. */
function placeOf(entries: TarEntry[]): { entry: string; words: string } {
  const last = entries.at(-1)
  if (!last) return { entry: '', words: 'the first entry' }
  return { entry: last.name, words: `the entry after "${last.name}"` }
}

function broken(entry: string, sentence: string): never {
  throw new Problem('bundle_invalid', sentence, { entry })
}
