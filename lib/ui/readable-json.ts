import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'

/**
 * A JSON object as text that people can compare line by line: a member a line, nested by two spaces, and texts of several
 * lines written out under `|` as they are, not as one line of `\n`. For reading only; it is never parsed.
 */
export function readableJson(value: JsonObject): string {
  return `${members(value, '').join('\n')}\n`
}

function members(value: JsonObject, indent: string): string[] {
  return Object.entries(value).flatMap(([name, member]) => entry(`${indent}${name}:`, member, `${indent}  `))
}

function entry(head: string, value: Json, indent: string): string[] {
  if (typeof value === 'string' && value.includes('\n')) {
    return [
      `${head} |`,
      ...value
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => indent + line),
    ]
  }
  if (isJsonObject(value) && Object.keys(value).length > 0) return [head, ...members(value, indent)]
  if (Array.isArray(value) && value.length > 0) {
    return [head, ...value.flatMap((item) => entry(`${indent}-`, item, `${indent}  `))]
  }
  return [`${head} ${typeof value === 'string' ? value : JSON.stringify(value)}`]
}
