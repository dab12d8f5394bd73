/**
 * A found value as it may stand in a sentence: JSON, at most 48 characters. Tokens are hostile input, and a refusal
 * that repeats a megabyte of it would be the next problem.
 */
export function quote(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object'
  if (typeof value === 'string' && value.length > 48) return JSON.stringify(`${value.slice(0, 44)}…`)
  return JSON.stringify(value) ?? 'nothing'
}
