/*
 * A document as TOML, in the order of its members: what is no table first, then tables under their headers, and lists
 * of tables in double brackets. Texts with line breaks are written over several lines, as an author would.
 */
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'

/** The text of a document, with a line break at its end. Throws Problem `workflow_invalid` for a null, which TOML cannot say. */
export function tomlText(document: JsonObject): string {
  const blocks: string[] = []
  writeTable(document, [], undefined, blocks)
  return `${blocks.join('\n\n')}\n`
}

/** Adds a table's block, and behind it those of the tables inside it. */
function writeTable(table: JsonObject, path: string[], header: string | undefined, blocks: string[]): void {
  const members = Object.entries(table)
  const inner = members.filter(([, value]) => isTable(value))
  const plain = members.filter(([, value]) => !isTable(value))
  const lines = plain.map(([name, value]) => `${keyText(name)} = ${valueText(value, 0, floats.has(name))}`)
  // A header whose table only holds tables says nothing that theirs do not say.
  const isImplied = lines.length === 0 && inner.length > 0 && header?.startsWith('[[') !== true
  if (header !== undefined && !isImplied) lines.unshift(header)
  if (lines.length > 0) blocks.push(lines.join('\n'))
  for (const [name, value] of inner) {
    const inside = [...path, keyText(name)]
    if (Array.isArray(value))
      for (const entry of value) writeTable(entry as JsonObject, inside, `[[${inside.join('.')}]]`, blocks)
    else writeTable(value as JsonObject, inside, `[${inside.join('.')}]`, blocks)
  }
}

/** Members that agentd reads as numbers with a point. */
const floats = new Set(['per_second', 'refill_per_sec', 'jitter', 'sample_ratio'])
/** Tables that read better on one line, inside the table they belong to. */
const maxInlineLength = 80

function isTable(value: Json): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every(isJsonObject) && !isShort(value)
  return isJsonObject(value)
}

function isShort(list: Json[]): boolean {
  return list.every((entry) => isJsonObject(entry) && Object.keys(entry).length === 0)
}

function keyText(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : basicText(name)
}

function valueText(value: Json, depth: number, isFloat = false): string {
  if (typeof value === 'string')
    return value.includes('\n') && depth === 0 ? longText(value) : basicText(value)
  if (typeof value === 'number') return numberText(value, isFloat)
  if (typeof value === 'boolean') return String(value)
  if (value === null)
    throw new Problem(
      'workflow_invalid',
      'The workflow holds a null, which TOML has no word for; leave it out.',
    )
  if (Array.isArray(value)) return listText(value, depth)
  const members = Object.entries(value).map(
    ([name, inner]) => `${keyText(name)} = ${valueText(inner, depth + 1, floats.has(name))}`,
  )
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

function listText(list: Json[], depth: number): string {
  const entries = list.map((entry) => valueText(entry, depth + 1))
  const oneLine = `[${entries.join(', ')}]`
  if (depth > 0 || oneLine.length <= maxInlineLength) return oneLine
  return `[\n${entries.map((entry) => `  ${entry},\n`).join('')}]`
}

/** Whole numbers beyond what an integer can hold exactly, and all that have a point or power, are floats. */
function numberText(value: number, isFloat: boolean): string {
  if (Object.is(value, -0)) return '-0.0'
  const text = String(value)
  if (Number.isSafeInteger(value)) return isFloat ? `${text}.0` : text
  return /[.e]/.test(text) ? text : `${text}.0`
}

/** On one line, in double quotation marks. JSON's escapes are TOML's. */
function basicText(text: string): string {
  return JSON.stringify(text).replaceAll('\x7f', '\\u007f')
}

/** Over several lines. Carriage returns stay escapes, since a line break in the file may be written in two ways. */
function longText(text: string): string {
  const lines = text
    .split('\n')
    .map((line) => basicText(line).slice(1, -1).replaceAll('\\"', '"').replaceAll('"""', '""\\"'))
  return `"""\n${lines.join('\n').replace(/"$/, '\\"')}"""`
}
