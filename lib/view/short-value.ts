/*
 * A value on one line, for a cell of a table: bounded, and short enough to be compared with the one above it. A test
 * report reads as its score, a text as its first line, a list as its length.
 */
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import type { ValueContent } from './value-content'
import { sizeWords } from './value-content'

/** Characters of a cell. */
const maxChars = 80
/** Members of an object that are named. */
const maxMembers = 3

/** One line that stands for the value. `size` in bytes; it is said of what cannot be read. */
export function shortValue(content: ValueContent, size: number): string {
  switch (content.is) {
    case 'bytes':
      return `${sizeWords(size)} of bytes`
    case 'text':
      return shortText(content.text)
    case 'json':
      return clip(shortJson(content.json))
    default:
      return content satisfies never
  }
}

function shortText(text: string): string {
  const head = text.slice(0, 4_000)
  const line = head.split('\n').find((one) => one.trim() !== '')
  if (line === undefined) return text === '' ? 'empty' : 'blank'
  return clip(line.trim())
}

function shortJson(value: Json): string {
  if (typeof value === 'string') return shortText(value)
  if (Array.isArray(value))
    return value.length === 1 ? '1 item' : `${value.length.toLocaleString('en')} items`
  if (isJsonObject(value)) return scoreOf(value) ?? membersOf(value)
  return String(value)
}

const passNames = ['pass', 'passed', 'passes', 'passing']
const failNames = ['fail', 'failed', 'failures', 'failing']
const totalNames = ['total', 'tests', 'count']

/** `{"pass":2,"total":5}` is "2/5 pass"; without a total it follows from what failed. */
function scoreOf(value: JsonObject): string | undefined {
  const numberIn = (names: string[]) => {
    const name = names.find((one) => typeof value[one] === 'number')
    return name === undefined ? undefined : (value[name] as number)
  }
  const pass = numberIn(passNames)
  const fail = numberIn(failNames)
  const total = numberIn(totalNames)
  if (pass !== undefined && total !== undefined) return `${pass}/${total} pass`
  if (pass !== undefined && fail !== undefined) return `${pass}/${pass + fail} pass`
  return undefined
}

function membersOf(value: JsonObject): string {
  const entries = Object.entries(value)
  if (entries.length === 0) return 'empty object'
  const named = entries.slice(0, maxMembers).map(([name, member]) => `${name} ${scalar(member)}`)
  const more = entries.length - maxMembers
  return `${named.join(', ')}${more > 0 ? `, ${more} more` : ''}`
}

function scalar(value: Json): string {
  if (typeof value === 'string') return clip(shortText(value), 24)
  if (Array.isArray(value)) return `[${value.length}]`
  return isJsonObject(value) ? `{${Object.keys(value).length}}` : String(value)
}

function clip(text: string, most = maxChars): string {
  const line = text.slice(0, most * 4).replace(/\s+/g, ' ')
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`
}
