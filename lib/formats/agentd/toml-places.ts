/*
 * Where things stand in a TOML text. The parser that reads values (smol-toml) keeps no places, and parsers that keep
 * them take ten times as long; so this walks over a text that the parser has already accepted and notes offsets.
 * It judges nothing and reads no values: what it does not understand ends the walk, and places get coarser from there.
 *
 *   [[nodes]]          the table's place, and of its key        nodes → items[0]
 *   id = "load"        the value's place, and of its key        nodes → items[0] → members.id
 */

/** A value in the text, with what is inside it. */
export interface Place {
  /** Offset of the value; of a table, of its header. */
  at: number
  /** Offset of the key it stands under. */
  nameAt: number
  members?: Map<string, Place>
  items?: Place[]
}

/** The places of a TOML text that a parser has accepted. */
export function locate(text: string): Place {
  const scan = scanner(text)
  const root: Place = { at: 0, nameAt: 0, members: new Map() }
  let table = root
  for (let before = -1; before < scan.pos(); ) {
    scan.skipBlank()
    before = scan.pos()
    if (scan.atEnd()) break
    if (scan.peek() === '[') table = scan.header(root)
    else scan.keyValue(table)
  }
  return root
}

/** The offset of a path's last part, or of the nearest thing around it that stands in the text. */
export function offsetOf(root: Place, path: readonly (string | number)[], what: 'name' | 'value'): number {
  let here = root
  for (const part of path) {
    const next = typeof part === 'number' ? (here.items?.[part] ?? lone(here, part)) : here.members?.get(part)
    if (!next) return here.at
    here = next
  }
  return what === 'name' ? here.nameAt : here.at
}

/** A table written in single brackets where a list was possible: its first entry is the table itself. */
function lone(place: Place, index: number): Place | undefined {
  return index === 0 && place.members ? place : undefined
}

interface Key {
  name: string
  at: number
}

const bareKey = /[A-Za-z0-9_-]+/y
const space = /[ \t]*/y
const scalar = /\d{4}-\d\d-\d\d[ Tt]\d[^\s,\]}#]*|[^\s,\]}#]+/y

/** Where white space and comments end; commas too, between entries. A loop, since a pattern would need memory for each. */
function endOfBlank(text: string, from: number, commas: boolean): number {
  let at = from
  for (; at < text.length; at++) {
    const character = text[at]
    if (character === '#') {
      const end = text.indexOf('\n', at)
      if (end < 0) return text.length
      at = end
    } else if (character !== ' ' && character !== '\t' && character !== '\n' && character !== '\r')
      if (!commas || character !== ',') break
  }
  return at
}

/** Where a string ends that begins here: one, two or three of its quotation marks, with escapes in double ones. */
export function endOfString(text: string, from: number): number {
  const quote = text[from] as string
  const isLong = text.startsWith(quote.repeat(3), from)
  const close = isLong ? quote.repeat(3) : quote
  let at = from + close.length
  while (at < text.length && !text.startsWith(close, at)) at += quote === '"' && text[at] === '\\' ? 2 : 1
  at += close.length
  // Up to two quotation marks may stand right before the closing three.
  for (let more = 0; isLong && more < 2 && text[at] === quote; more++) at++
  return Math.min(at, text.length)
}

function scanner(text: string) {
  let pos = 0
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = pos
    const found = pattern.exec(text)?.[0] ?? ''
    pos += found.length
    return found
  }
  const takeString = (): string => {
    const from = pos
    pos = endOfString(text, pos)
    return text.slice(from, pos)
  }
  const key = (): Key[] => {
    const keys: Key[] = []
    do {
      if (text[pos] === '.') pos++
      take(space)
      const at = pos
      const isQuoted = text[pos] === '"' || text[pos] === "'"
      keys.push({ name: isQuoted ? unquoted(takeString()) : take(bareKey), at })
      take(space)
    } while (text[pos] === '.')
    return keys
  }
  const keyValue = (table: Place): void => {
    const keys = key()
    if (text[pos] !== '=') return
    pos++
    take(space)
    const last = keys.pop()
    if (!last) return
    const owner = keys.reduce((inside, part) => child(inside, part), table)
    owner.members ??= new Map()
    const place = value(last.at)
    owner.members.set(last.name, place)
  }
  const value = (nameAt: number): Place => {
    const at = pos
    const first = text[pos]
    if (first === '"' || first === "'") pos = endOfString(text, pos)
    else if (first === '[')
      return { at, nameAt, items: inside(']', (items: Place[]) => items.push(value(pos)), []) }
    else if (first === '{') {
      const table: Place = { at, nameAt, members: new Map() }
      inside('}', () => keyValue(table), undefined)
      return table
    } else take(scalar)
    return { at, nameAt }
  }
  /** What stands between brackets, entry by entry. */
  const inside = <T>(close: string, entry: (into: T) => unknown, into: T): T => {
    pos++
    for (let before = -1; before < pos; ) {
      pos = endOfBlank(text, pos, true)
      before = pos
      if (pos >= text.length) break
      if (text[pos] === close) {
        pos++
        break
      }
      entry(into)
    }
    return into
  }
  const header = (root: Place): Place => {
    const at = pos
    const isList = text.startsWith('[[', pos)
    pos += isList ? 2 : 1
    const keys = key()
    pos += isList ? 2 : 1
    const last = keys.pop()
    if (!last) return root
    const owner = keys.reduce((table, part) => child(table, part), root)
    const known = owner.members?.get(last.name)
    if (isList) {
      const list = known ?? { at, nameAt: last.at, items: [] }
      owner.members?.set(last.name, list)
      const table: Place = { at, nameAt: last.at, members: new Map() }
      list.items ??= []
      list.items.push(table)
      return table
    }
    const table: Place = known ?? { at, nameAt: last.at, members: new Map() }
    owner.members?.set(last.name, table)
    return table
  }
  return {
    pos: () => pos,
    atEnd: () => pos >= text.length,
    peek: () => text[pos],
    skipBlank: () => {
      pos = endOfBlank(text, pos, false)
    },
    header,
    keyValue,
  }
}

/** The table of that name inside another; of a list of tables, its latest. */
function child(table: Place, { name, at }: Key): Place {
  table.members ??= new Map()
  const known = table.members.get(name)
  if (known) return known.items?.at(-1) ?? known
  const made: Place = { at, nameAt: at, members: new Map() }
  table.members.set(name, made)
  return made
}

function unquoted(token: string): string {
  if (token.startsWith("'")) return token.slice(1, -1)
  try {
    return String(JSON.parse(token))
  } catch {
    return token.slice(1, -1)
  }
}
