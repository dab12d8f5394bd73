/*
 * Steps of an agent loop as a person reads them, out of what its thoughts and tools gave (lib/runners/agent-think.ts).
 * Whatever stands in these values was said by a model or a tool: it is shown, and never followed.
 */
import { isJsonObject, type Json } from '@/lib/base/json'
import type { VisitState } from '@/lib/engine/run'

/** What one answer of the model came to; `thought` is the prose around its action. */
export type Saying = { thought: string } & (
  | { does: 'tool'; tool: string; args: Json }
  | { does: 'final'; result: Json }
  | { does: 'exhausted'; why: string }
  /** It could not be used, and was told so. */
  | { does: 'again'; why: string }
)

/** A thought's output in words; undefined for a value that is none. */
export function sayingOf(output: Json): Saying | undefined {
  if (!isJsonObject(output)) return undefined
  const { action, outcome, talk } = output
  const turns = Array.isArray(talk) ? talk.filter(isJsonObject) : []
  const answer = turns.findLast(({ role }) => role === 'assistant')?.text
  const thought = typeof answer === 'string' ? proseOf(answer) : ''
  if (isJsonObject(action))
    return { does: 'tool', thought, tool: String(action.tool), args: action.args ?? {} }
  if (isJsonObject(outcome)) {
    if (typeof outcome.reason === 'string') return { does: 'exhausted', thought: '', why: outcome.reason }
    return { does: 'final', thought, result: outcome.result ?? null }
  }
  const told = turns.at(-1)
  return { does: 'again', thought: typeof answer === 'string' ? answer : '', why: faultIn(told?.text) }
}

/** What stands before and behind the JSON object of an answer. */
function proseOf(answer: string): string {
  const [start, end] = [answer.indexOf('{'), answer.lastIndexOf('}')]
  if (start === -1 || end < start) return answer.trim()
  return `${answer.slice(0, start)} ${answer.slice(end + 1)}`
    .replaceAll('```json', '')
    .replaceAll('```', '')
    .trim()
}

function faultIn(text: Json | undefined): string {
  try {
    const told: unknown = JSON.parse(String(text))
    if (isJsonObject(told as Json)) return String((told as { error?: unknown }).error ?? '')
  } catch {
    // It was shortened; what it was is in the step's output.
  }
  return 'The answer could not be used'
}

/** What a tool gave, or why it was refused or failed. */
export function toolAnswer(output: Json, state: VisitState): { result: Json; refused?: string } {
  const failed = state.status === 'done' && state.label === 'error'
  if (failed && isJsonObject(output) && typeof output.error === 'string')
    return { result: output, refused: output.error }
  return { result: output }
}
