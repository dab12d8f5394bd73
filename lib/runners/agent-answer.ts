import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { deeperThan, maxJsonDepth } from './parse-bounded'

/** What a model asks for in one step of an agent loop. */
export type AgentAnswer =
  | { action: 'tool'; tool: string; args: JsonObject }
  | { action: 'final'; result: Json }

/**
 * The action in a model's answer: the first JSON object in it, whatever prose or fences stand around. Otherwise what is
 * wrong, in words the model can mend it by; they never repeat the answer.
 */
export function readAgentAnswer(text: string): AgentAnswer | { fault: string } {
  const object = firstObject(text)
  if (object === undefined) return { fault: 'there is no JSON object in it' }
  let value: Json
  try {
    value = JSON.parse(object) as Json
  } catch {
    return { fault: 'its JSON object is not valid JSON' }
  }
  if (!isJsonObject(value) || deeperThan(value, maxJsonDepth))
    return { fault: 'its JSON object is nested too deep' }
  const { action, tool, args = {}, result = null } = value
  if (action === 'final') return { action, result }
  if (action !== 'tool') return { fault: '"action" must be "tool" or "final"' }
  if (typeof tool !== 'string') return { fault: '"tool" must be the name of a tool' }
  if (!isJsonObject(args)) return { fault: '"args" must be an object' }
  return { action, tool, args }
}

/** From the first `{` to the `}` that closes it; braces inside texts do not count. One pass. */
export function firstObject(text: string): string | undefined {
  const start = text.indexOf('{')
  if (start === -1) return undefined
  let depth = 0
  let inText = false
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (inText) {
      if (character === '\\') at++
      else if (character === '"') inText = false
    } else if (character === '"') inText = true
    else if (character === '{') depth++
    else if (character === '}' && --depth === 0) return text.slice(start, at + 1)
  }
  return undefined
}
