/*
 * Steps of an agent loop, and rounds of a turn of a prompt state, as a person reads them: out of what their thoughts and
 * tools gave (lib/runners/agent-think.ts, prompt-turn.ts).
 * Whatever stands in these values was said by a model or a tool: it is shown, and never followed.
 */
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
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

/** One answer of the model in a turn: what it said, what it called, and what came of each call. */
export interface TurnRound {
  said: string
  uses: TurnUse[]
  /** What it was told after that, when its answer led nowhere: "End your turn: …". */
  told?: string
}

export interface TurnUse {
  name: string
  args: Json
  /** What the call is to the turn: a tool, an artifact it wrote, the event that ends it. */
  as: 'tool' | 'artifact' | 'event'
  /** Absent while it is under way. */
  result?: Json
  /** It was refused, or failed. */
  isError: boolean
  /** Which call of this tool it is, from 0. */
  nth: number
}

export interface TurnTalk {
  rounds: TurnRound[]
  /** Messages of earlier turns that the model was told again (persistent conversation). */
  earlier: number
  /** Once the turn is over. `event` is null when it ended without one. */
  end?: { event: string | null; exhausted: boolean }
}

const ownCalls: Record<string, TurnUse['as']> = {
  workflow__transition: 'event',
  workflow__set_artifact: 'artifact',
}

/** A turn as it stands after one of its thoughts, from that thought's output; undefined for a value that is none. */
export function turnTalk(output: Json): TurnTalk | undefined {
  if (!isJsonObject(output) || !Array.isArray(output.talk)) return undefined
  const { outcome } = output
  const over = isJsonObject(outcome) ? outcome : undefined
  const talk = (over && Array.isArray(over.talk) ? over.talk : output.talk).filter(isJsonObject)
  const from = beginOf(talk, Number(output.rounds))
  return {
    rounds: roundsOf(talk.slice(from)),
    earlier: from,
    ...(over && {
      end: {
        event: typeof over.event === 'string' ? over.event : null,
        exhausted: over.exhausted !== undefined,
      },
    }),
  }
}

/** Where the turn's own messages begin: behind its opening, which stands before as many answers as it had rounds. */
function beginOf(talk: readonly JsonObject[], rounds: number): number {
  let left = rounds
  for (let at = talk.length - 1; at >= 0 && left > 0; at--) {
    if (talk[at]?.role === 'assistant' && --left === 0) return at
  }
  return rounds > 0 ? 0 : talk.length
}

function roundsOf(talk: readonly JsonObject[]): TurnRound[] {
  const rounds: TurnRound[] = []
  const open = new Map<string, TurnUse>()
  const seen = new Map<string, number>()
  for (const message of talk) {
    const text = typeof message.text === 'string' ? message.text : ''
    if (message.role === 'assistant') {
      const uses = (Array.isArray(message.uses) ? message.uses : []).filter(isJsonObject).map((use) => {
        const name = String(use.name)
        const nth = seen.get(name) ?? 0
        seen.set(name, nth + 1)
        const made: TurnUse = {
          name,
          args: use.args ?? {},
          as: ownCalls[name] ?? 'tool',
          isError: false,
          nth,
        }
        open.set(String(use.id), made)
        return made
      })
      rounds.push({ said: text, uses })
    } else if (message.role === 'tool') {
      const use = open.get(String(message.id))
      if (use) Object.assign(use, { result: asJson(text), isError: message.isError === true })
    } else {
      const last = rounds.at(-1)
      if (last) last.told = text
    }
  }
  return rounds
}

/** What a tool gave, which a message holds as text. */
function asJson(text: string): Json {
  if (!/^[[{"]/.test(text)) return text
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

/** What is wrong with a call, in words: `{"error": "…"}` as tools and refusals say it. */
export function faultOf({ result, isError }: TurnUse): string | undefined {
  if (!isError) return undefined
  if (isJsonObject(result) && typeof result.error === 'string') return result.error
  return typeof result === 'string' ? result : 'It failed'
}
