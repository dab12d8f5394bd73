import type { Json } from '@/lib/base/json'

/**
 * A value as the label of a branch (agentd section 1.5): a text as it is, a number, a boolean or null as its JSON text.
 * Lists and objects become their type's name, so that a miss against the declared labels is seen.
 */
export function stringForm(value: Json): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return 'array'
  return value !== null && typeof value === 'object' ? 'object' : JSON.stringify(value)
}
