/*
 * A JSON diff as rows that people read: a member a line, nested by two spaces, no commas, so that a line differs only
 * where a value does. Texts of several lines are written out as they are and compared by line. A part that is the same
 * and long is one line with a count.
 */
import { isJsonObject, type Json } from '@/lib/base/json'
import type { JsonDelta, JsonItem } from './json-diff'
import { type DiffRow, type DiffRows, diffRows } from './text-diff'
import { compareWords, type DiffPart, wholeLine } from './words'
import { Work } from './work'

/** Lines of a part that is the same; a longer one is said with a count. */
const listedSame = 60
const maxRows = 50_000
const wordWork = 500_000

/** The rows of a diff by structure. `changes` counts lines, as a text's does. */
export function jsonRows(root: JsonDelta): Omit<DiffRows, 'exact'> {
  const writer = new Writer()
  writer.delta('', '', root)
  return { rows: writer.rows, changes: writer.changes, same: writer.same, unlisted: writer.unlisted }
}

class Writer {
  readonly rows: DiffRow[] = []
  readonly #work = new Work(wordWork)
  #before = 0
  #after = 0
  changes = 0
  same = 0
  unlisted = 0

  /** `head` is what stands before the value on its first line: `commit: `, `- `. */
  delta(indent: string, head: string, delta: JsonDelta): void {
    switch (delta.kind) {
      case 'same':
        return this.#whole('same', indent, head, delta.value)
      case 'changed':
        return this.#changed(indent, head, delta.before, delta.after)
      case 'object':
        return this.#inside(
          indent,
          head,
          '{}',
          delta.members.map((item) => [`${shownName(item.name)}: `, item]),
        )
      case 'array':
        return this.#inside(
          indent,
          head,
          '[]',
          delta.items.map((item) => ['- ', item]),
        )
      default:
        delta satisfies never
    }
  }

  #inside(
    indent: string,
    head: string,
    [open, close]: string,
    items: [head: string, item: JsonItem][],
  ): void {
    this.#line('same', [{ text: `${indent}${head}${open}`, changed: false }])
    for (const [inner, item] of items) {
      if (item.kind === 'kept') this.delta(`${indent}  `, inner, item.delta)
      else this.#whole(item.kind === 'gone' ? 'del' : 'add', `${indent}  `, inner, item.value)
    }
    this.#line('same', [{ text: `${indent}${close}`, changed: false }])
  }

  #changed(indent: string, head: string, before: Json, after: Json): void {
    if (isLong(before) && isLong(after)) return this.#texts(indent, head, before, after)
    const flat = isFlat(before) && isFlat(after)
    if (!flat) {
      this.#whole('del', indent, head, before)
      return this.#whole('add', indent, head, after)
    }
    const lead = { text: `${indent}${head}`, changed: false }
    const [gone, come] = valueParts(before, after, this.#work)
    this.#line('del', [lead, ...gone])
    this.#line('add', [lead, ...come])
    this.changes++
  }

  /** Two texts of several lines in the same place. */
  #texts(indent: string, head: string, before: string, after: string): void {
    this.#line('same', [{ text: `${indent}${head}|`, changed: false }])
    const inner = { text: `${indent}  `, changed: false }
    const found = diffRows(before, after)
    for (const row of found.rows) {
      if (row.kind === 'skip') this.#skip(row.count)
      else this.#line(row.kind, [inner, ...row.parts])
    }
    this.changes += Math.max(1, found.changes)
    this.unlisted += found.unlisted
  }

  #whole(kind: 'same' | 'del' | 'add', indent: string, head: string, value: Json): void {
    const lines = kind === 'same' ? fewLines(value, indent, head) : linesOf(value, indent, head, maxRows)
    for (const line of lines) this.#line(kind, wholeLine(line))
    if (kind !== 'same') this.changes += lines.length
  }

  #skip(count: number): void {
    this.rows.push({ kind: 'skip', before: this.#before + 1, after: this.#after + 1, count })
    this.#before += count
    this.#after += count
    this.same += count
  }

  #line(kind: 'same' | 'del' | 'add', parts: DiffPart[]): void {
    if (kind === 'same') this.same++
    if (this.rows.length >= maxRows) {
      if (kind !== 'same') this.unlisted++
      return
    }
    if (kind === 'same') this.rows.push({ kind, before: ++this.#before, after: ++this.#after, parts })
    else if (kind === 'del') this.rows.push({ kind, before: ++this.#before, parts })
    else this.rows.push({ kind, after: ++this.#after, parts })
  }
}

const isLong = (value: Json): value is string => typeof value === 'string' && value.includes('\n')
/** True for what is written on one line. */
const isFlat = (value: Json) =>
  (typeof value !== 'object' || value === null || isEmpty(value)) && !isLong(value)
const isEmpty = (value: object) => Object.keys(value).length === 0

/** Two values of one line each; of two texts, the words that differ. */
function valueParts(before: Json, after: Json, work: Work): [DiffPart[], DiffPart[]] {
  const texts = [scalarText(before), scalarText(after)] as const
  if (typeof before === 'string' && typeof after === 'string') {
    const [gone, come] = compareWords(...texts, work)
    if (gone.some((part) => part.changed) || come.some((part) => part.changed)) return [gone, come]
  }
  return [wholeLine(texts[0], true), wholeLine(texts[1], true)]
}

/** The lines of a value that is the same; what is long is one line with a count. */
function fewLines(value: Json, indent: string, head: string): string[] {
  const lines = linesOf(value, indent, head, listedSame + 1)
  if (lines.length <= listedSame || typeof value !== 'object' || value === null)
    return lines.slice(0, listedSame)
  const inside = Array.isArray(value) ? `[ ${value.length} items` : `{ ${Object.keys(value).length} members`
  return [`${indent}${head}${inside}, the same ${Array.isArray(value) ? ']' : '}'}`]
}

/** A value written out, as the rows write it: at most so many lines. */
export function linesOf(value: Json, indent: string, head: string, most: number): string[] {
  const lines: string[] = []
  const write = (inner: Json, at: string, lead: string): void => {
    if (lines.length >= most) return
    if (isFlat(inner)) {
      lines.push(`${at}${lead}${scalarText(inner)}`)
    } else if (typeof inner === 'string') {
      lines.push(`${at}${lead}|`)
      for (const line of inner.replace(/\n$/, '').split('\n')) {
        if (lines.length < most) lines.push(`${at}  ${line}`)
      }
    } else if (Array.isArray(inner)) {
      lines.push(`${at}${lead}[`)
      for (const item of inner) write(item, `${at}  `, '- ')
      lines.push(`${at}]`)
    } else if (isJsonObject(inner)) {
      lines.push(`${at}${lead}{`)
      for (const [name, member] of Object.entries(inner)) write(member, `${at}  `, `${shownName(name)}: `)
      lines.push(`${at}}`)
    }
  }
  write(value, indent, head)
  return lines
}

/** A text in quotes, as it is: what is inside need not be parsed again, so nothing is escaped. */
function scalarText(value: Json): string {
  return typeof value === 'string' ? `"${value}"` : JSON.stringify(value)
}

/** A name as it is where it cannot be misread, else in quotes. */
function shownName(name: string): string {
  return /^[\p{L}\p{N}_$.-]+$/u.test(name) ? name : JSON.stringify(name)
}
