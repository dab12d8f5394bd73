import { faultAt } from '@/components/settings/words'
import type { AgentKey } from '@/lib/view/agent-wire'

/** A key set as it is written in a form: its JSON. Throws an ApiProblem at `jwks` when it is none. */
export function keySetIn(text: string): unknown {
  if (text.trim() === '') {
    throw faultAt(
      'jwks',
      'An agent needs at least one public key; ask the agent for them, or paste a JWK set.',
    )
  }
  try {
    return JSON.parse(text)
  } catch {
    throw faultAt('jwks', 'This is not JSON; a JWK set begins with {"keys": [ and ends with ]}.')
  }
}

/** Keys that are registered and that the text no longer holds; none while the text cannot be read. */
export function keysLeftOut(registered: readonly AgentKey[], text: string): AgentKey[] {
  let set: unknown
  try {
    set = keySetIn(text)
  } catch {
    return []
  }
  const list = typeof set === 'object' && set !== null && 'keys' in set ? set.keys : undefined
  if (!Array.isArray(list)) return []
  const kids = new Set(list.map((key: { kid?: unknown } | null) => key?.kid))
  return registered.filter(({ kid }) => !kids.has(kid))
}
