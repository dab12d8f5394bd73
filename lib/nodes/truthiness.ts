import type { Json } from '@/lib/base/json'

/** Whether a value counts as true (agentd section 1.5): all do but null, false, 0, and the empty text, list and object. */
export function isTruthy(value: Json): boolean {
  if (value === null || typeof value !== 'object') return Boolean(value)
  return Array.isArray(value) ? value.length > 0 : Object.keys(value).length > 0
}
