/** JSON, base64, hexadecimal and URL texts. Bytes that are no UTF-8 text are not guessed at. */
import { parseNumber, type RegoNumber } from '../numbers'
import { BuiltinError, RegoFailed } from '../refusal'
import { isArray, jsonText, RegoObject, RegoSet, type Value } from '../values'
import { type Builtin, builtin } from './builtin'

// --- JSON ----------------------------------------------------------------------------------------------------------

const maxDepth = 256

/** Reads JSON and keeps the text of its numbers. Throws BuiltinError for what is no JSON. */
export class JsonReader {
  #at = 0

  constructor(readonly text: string) {}

  whole(): Value {
    const value = this.#value(0)
    this.#space()
    if (this.#at < this.text.length) this.#wrong()
    return value
  }

  #wrong(): never {
    throw new BuiltinError(`invalid JSON at character ${this.#at + 1}`)
  }

  #space(): void {
    while (' \t\r\n'.includes(this.text[this.#at] ?? 'x')) this.#at += 1
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.text)?.[0]
    if (found === undefined) return this.#wrong()
    this.#at += found.length
    return found
  }

  #skip(mark: string): boolean {
    this.#space()
    if (this.text[this.#at] !== mark) return false
    this.#at += 1
    return true
  }

  #value(depth: number): Value {
    if (depth > maxDepth) throw new RegoFailed('eval_bound', `JSON nests deeper than ${maxDepth} levels`)
    this.#space()
    const first = this.text[this.#at]
    if (first === '{') return this.#object(depth)
    if (first === '[') return this.#array(depth)
    if (first === '"') return this.#string()
    if (first === 't' || first === 'f' || first === 'n') {
      const word = this.#take(/true|false|null/y)
      return word === 'null' ? null : word === 'true'
    }
    return this.#number()
  }

  #number(): RegoNumber {
    const text = this.#take(/-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y)
    const number = parseNumber(text)
    if (!number) throw new RegoFailed('eval_bound', `The number ${text.slice(0, 40)} is out of all bounds`)
    return number
  }

  #string(): string {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has none inside of its strings
    const quoted = this.#take(/"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y)
    return (JSON.parse(quoted) as string).toWellFormed()
  }

  #array(depth: number): Value {
    this.#at += 1
    const items: Value[] = []
    if (this.#skip(']')) return items
    do items.push(this.#value(depth + 1))
    while (this.#skip(','))
    if (!this.#skip(']')) this.#wrong()
    return items
  }

  #object(depth: number): Value {
    this.#at += 1
    const entries: [Value, Value][] = []
    if (this.#skip('}')) return RegoObject.of(entries)
    do {
      this.#space()
      const key = this.#string()
      if (!this.#skip(':')) this.#wrong()
      entries.push([key, this.#value(depth + 1)])
    } while (this.#skip(','))
    if (!this.#skip('}')) this.#wrong()
    return RegoObject.of(entries)
  }
}

function isJson(text: Value): boolean {
  if (typeof text !== 'string') return false
  try {
    new JsonReader(text).whole()
    return true
  } catch (cause) {
    if (cause instanceof BuiltinError) return false
    throw cause
  }
}

// --- bytes ---------------------------------------------------------------------------------------------------------

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

function toBase64(text: string, url: boolean, padded = true): string {
  const bytes = new TextEncoder().encode(text)
  let out = ''
  for (let i = 0; i < bytes.length; i += 3) {
    const chunk = ((bytes[i] as number) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0)
    const letters = [18, 12, 6, 0].map((shift) => alphabet[(chunk >> shift) & 63] as string)
    const used = Math.min(4, bytes.length - i + 1)
    out += letters.slice(0, used).join('') + (padded ? '='.repeat(4 - used) : '')
  }
  return url ? out.replaceAll('+', '-').replaceAll('/', '_') : out
}

/** The bytes of a base64 text with its padding; throws BuiltinError. Line ends are passed over, as Go does. */
function fromBase64(text: string): Uint8Array {
  const plain = text.replace(/[\r\n]/g, '')
  if (plain.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(plain))
    throw new BuiltinError('illegal base64 data')
  const letters = plain.replace(/=+$/, '')
  if (letters.length % 4 === 1) throw new BuiltinError('illegal base64 data')
  const bytes: number[] = []
  for (let i = 0; i < letters.length; i += 4) {
    const chunk = [0, 1, 2, 3].reduce(
      (sum, j) => (sum << 6) | Math.max(0, alphabet.indexOf(letters[i + j] ?? 'A')),
      0,
    )
    const used = Math.min(4, letters.length - i) - 1
    for (let j = 0; j < used; j += 1) bytes.push((chunk >> (16 - 8 * j)) & 255)
  }
  return Uint8Array.from(bytes)
}

function fromBase64Url(text: string): Uint8Array {
  if (/[+/]/.test(text)) throw new BuiltinError('illegal base64 data')
  const missing = text.includes('=') ? 0 : (4 - (text.length % 4)) % 4
  return fromBase64(text.replaceAll('-', '+').replaceAll('_', '/') + '='.repeat(missing))
}

function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new RegoFailed('eval_unsupported', 'The decoded bytes are no UTF-8 text')
  }
}

function fromHex(text: string): Uint8Array {
  if (text.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(text))
    throw new BuiltinError('invalid hexadecimal text')
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}

function toHex(text: string): string {
  return [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

// --- URLs ----------------------------------------------------------------------------------------------------------

function escapedQuery(text: string): string {
  return [...new TextEncoder().encode(text)]
    .map((byte) => {
      const letter = String.fromCharCode(byte)
      if (letter === ' ') return '+'
      return /[A-Za-z0-9\-_.~]/.test(letter) ? letter : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')
}

function unescapedQuery(text: string): string {
  if (/%(?![0-9a-fA-F]{2})/.test(text)) throw new BuiltinError('invalid URL escape')
  const bytes: number[] = []
  const raw = new TextEncoder().encode(text)
  for (let i = 0; i < raw.length; i += 1) {
    if (raw[i] === 37) {
      bytes.push(Number.parseInt(String.fromCharCode(raw[i + 1] as number, raw[i + 2] as number), 16))
      i += 2
    } else bytes.push(raw[i] === 43 ? 32 : (raw[i] as number))
  }
  return utf8(Uint8Array.from(bytes))
}

function encodeObject(object: RegoObject): string {
  const pairs: string[] = []
  for (const [key, value] of object.sorted) {
    if (typeof key !== 'string')
      throw new RegoFailed('eval_unsupported', 'Keys that are no texts are not known here')
    const values = isArray(value) ? value : value instanceof RegoSet ? value.sorted : [value]
    for (const one of values) {
      if (typeof one !== 'string')
        throw new BuiltinError('values must be texts, or arrays or sets of texts', 'eval_type_error')
      pairs.push(`${escapedQuery(key)}=${escapedQuery(one)}`)
    }
  }
  return pairs.join('&')
}

function decodeObject(text: string): Value {
  const found = new Map<string, string[]>()
  for (const pair of text.split('&')) {
    if (pair.includes(';')) throw new BuiltinError('invalid semicolon separator in query')
    if (pair === '') continue
    const at = pair.indexOf('=')
    const key = unescapedQuery(at < 0 ? pair : pair.slice(0, at))
    const value = at < 0 ? '' : unescapedQuery(pair.slice(at + 1))
    found.set(key, [...(found.get(key) ?? []), value])
  }
  return RegoObject.of(found)
}

function text(name: string, result: string, work: (text: string) => Value): Builtin {
  return builtin(name, ['s'], result, (_, value: string) => work(value))
}

export const encodingBuiltins: Builtin[] = [
  builtin('json.marshal', ['*'], 's', (_, value: Value) => jsonText(value)),
  text('json.unmarshal', '*', (value) => new JsonReader(value).whole()),
  builtin('json.is_valid', ['*'], 'b', (_, value: Value) => isJson(value)),
  text('base64.encode', 's', (value) => toBase64(value, false)),
  text('base64.decode', 's', (value) => utf8(fromBase64(value))),
  builtin('base64.is_valid', ['*'], 'b', (_, value: Value) => {
    if (typeof value !== 'string') return false
    try {
      fromBase64(value)
      return true
    } catch (cause) {
      if (cause instanceof BuiltinError) return false
      throw cause
    }
  }),
  text('base64url.encode', 's', (value) => toBase64(value, true)),
  text('base64url.encode_no_pad', 's', (value) => toBase64(value, true, false)),
  text('base64url.decode', 's', (value) => utf8(fromBase64Url(value))),
  text('hex.encode', 's', toHex),
  text('hex.decode', 's', (value) => utf8(fromHex(value))),
  text('urlquery.encode', 's', escapedQuery),
  text('urlquery.decode', 's', unescapedQuery),
  builtin('urlquery.encode_object', ['o'], 's', (_, value: RegoObject) => encodeObject(value)),
  text('urlquery.decode_object', 'o', decodeObject),
]
