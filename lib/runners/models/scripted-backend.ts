/*
 * A backend that answers from a script: for fixtures, tests, examples and the lab. What a real backend can do wrong it
 * does on request, so that a workflow's answer to it can be tried out. A script is JSON or TOML:
 *
 *   { "answers": [ "positive",
 *                  { "content": "…", "prompt_tokens": 12, "completion_tokens": 1 },
 *                  { "text": "Now the tests.", "tool_calls": [ { "name": "run_tests", "args": { "test_path": "test" } } ] },
 *                  { "fault": "down" } ] }
 *
 * `answers` are given in order, whoever asks. Where several prompts ask the same backend, `when` gives each a sequence
 * of its own; the first entry that fits the call answers it, and `answers` at the top answer what none fits.
 *
 *   { "when": [
 *       { "system": "You review code", "last": "\"fail\":0", "answers": [ … ], "repeat": true },
 *       { "system": ["You review code", "second attempt"],   "answers": [ … ] },
 *       { "system": "You write code", "count": "talk",       "answers": [ … ] } ] }
 *
 *   system   words that stand in the instructions (the system messages); of a list, all of them
 *   last     words that stand in the last message: what a tool gave back, or what the user said; of a list, all
 *   count    "run" (unless said): the sequence goes on from call to call through the whole run;
 *            "talk": which answer it is follows from the conversation alone, the first one where the model has not
 *            spoken yet. Such an entry, and one with a single answer and `repeat`, gives the same answer to the same
 *            question: also after a restart, and in a run that was forked from another in the middle
 *   repeat   after the last answer the first one follows again
 *
 * How far a run has come in a script is kept in memory by run: another process begins the script anew.
 */
import { parse as parseToml } from 'smol-toml'
import { z } from 'zod'
import { EffectFailed, type ModelCall } from '@/lib/runners/runner'
import type { Backend } from '@/lib/workflow/graph'
import {
  answerInvalid,
  type BackendSurroundings,
  type ModelBackend,
  misconfigured,
  refused,
  unreachable,
} from './backend'
import type { RawAnswer } from './tool-uses'
import { writtenUses } from './tools-in-words'

const tokens = z.int().min(0).max(1e9).optional()

const answer = z.union([
  z.string(),
  z
    .strictObject({
      /** A text, or a value that is given as its JSON text. */
      content: z.json().optional(),
      text: z.string().optional(),
      tool_calls: writtenUses.optional(),
      prompt_tokens: tokens,
      completion_tokens: tokens,
      fault: z.enum(['down', 'slow', 'rubbish', 'error']).optional(),
      delay_ms: z.int().min(0).max(600_000).optional(),
    })
    .refine(({ content, text }) => content === undefined || text === undefined, {
      message: 'content and text are two names of one thing',
    }),
])

const sequence = {
  answers: z.array(answer).max(100_000),
  /** After the last answer the first one follows again. */
  repeat: z.boolean().optional(),
}

const words = z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(16)])

const entry = z.strictObject({
  system: words.optional(),
  last: words.optional(),
  count: z.enum(['run', 'talk']).optional(),
  ...sequence,
})

const script = z
  .strictObject({
    ...sequence,
    answers: sequence.answers.optional(),
    when: z.array(entry).max(1_000).optional(),
  })
  .refine(({ answers, when }) => answers ?? when, { message: 'there are no answers' })

export type ScriptedAnswer = z.infer<typeof answer>
export type Script = z.infer<typeof script>

const maxRunsKept = 10_000

/** How far each run has come in each script, and what was asked. One for a process, or one for a fixture's trial. */
export class ScriptPositions {
  private readonly positions = new Map<string, number>()

  /** The number of this call, from 0; `sequence` tells the sequences of one script apart. */
  next(run: string, backend: string, sequence?: number): number {
    const key = sequence === undefined ? `${run}/${backend}` : `${run}/${backend}/when/${sequence}`
    const at = this.positions.get(key) ?? 0
    // Read last, dropped last.
    this.positions.delete(key)
    this.positions.set(key, at + 1)
    if (this.positions.size > maxRunsKept) this.positions.delete(this.positions.keys().next().value ?? '')
    return at
  }
}

/** A script as its author wrote it, JSON or TOML. Throws EffectFailed `backend_misconfigured`. */
export function readScript(name: string, text: string): Script {
  const parsed = script.safeParse(scriptValue(name, text))
  if (parsed.success) return parsed.data
  const place = parsed.error.issues[0]?.path.join('.') ?? ''
  throw misconfigured(
    name,
    `has a script that is not one${place ? ` (at ${place})` : ''}; it needs answers = […], or when = […] with answers each.`,
  )
}

function scriptValue(name: string, text: string): unknown {
  try {
    return text.trimStart().startsWith('{') ? JSON.parse(text) : parseToml(text)
  } catch {
    throw misconfigured(name, 'has a script that is neither JSON nor TOML.')
  }
}

/** A backend that answers from `known`, else from the file its definition names. */
export function scriptedBackend(
  backend: Backend,
  surroundings: BackendSurroundings & { positions: ScriptPositions; run: string; known?: Script },
): ModelBackend {
  return {
    async ask(call, signal) {
      const { known } = surroundings
      const chosen = answerTo(
        call,
        known ?? (await fromFile(backend, surroundings)),
        backend.name,
        surroundings,
      )
      return given(backend.name, chosen, signal)
    },
  }
}

function answerTo(
  call: ModelCall,
  script: Script,
  backend: string,
  { positions, run }: { positions: ScriptPositions; run: string },
): ScriptedAnswer {
  const when = script.when ?? []
  const found = when.findIndex((one) => fits(one, call))
  const { answers = [], repeat }: Pick<Script, 'answers' | 'repeat'> = when[found] ?? script
  const byTalk = when[found]?.count === 'talk'
  const at = byTalk ? answersBefore(call) : positions.next(run, backend, found === -1 ? undefined : found)
  const chosen = answers[repeat && answers.length > 0 ? at % answers.length : at]
  if (chosen !== undefined) return chosen
  const place = found === -1 ? '' : ` at when.${found}`
  const none = found === -1 && when.length > 0 ? ', and no entry of its when fits the call' : ''
  throw new EffectFailed(
    'answer_missing',
    `The script of the model backend "${backend}" has ${answers.length} answers${place}, and this was call ${at + 1}${none}; add one.`,
  )
}

function fits({ system, last }: z.infer<typeof entry>, { messages }: ModelCall): boolean {
  const instructions = messages.filter(({ role }) => role === 'system').map(({ text }) => text)
  return holds(instructions.join('\n\n'), system) && holds(messages.at(-1)?.text ?? '', last)
}

function holds(text: string, wanted: string | string[] | undefined): boolean {
  return wanted === undefined || [wanted].flat().every((words) => text.includes(words))
}

/** How often the model has spoken in this conversation. */
function answersBefore({ messages }: ModelCall): number {
  return messages.filter(({ role }) => role === 'assistant').length
}

async function fromFile(backend: Backend, { read }: BackendSurroundings): Promise<Script> {
  if (!backend.path) throw misconfigured(backend.name, 'names no script; it needs a path.')
  const text = await read(backend.path)
  if (text === undefined)
    throw misconfigured(
      backend.name,
      'names a script that cannot be read here; a server reads files of a workflow only from the folders in HOLDPOINT_AUTHORED, and those in models.json from the data folder.',
    )
  return readScript(backend.name, text)
}

async function given(name: string, chosen: ScriptedAnswer, signal: AbortSignal): Promise<RawAnswer> {
  if (typeof chosen === 'string') return { text: chosen, usage: { promptTokens: 0, completionTokens: 0 } }
  if (chosen.delay_ms || chosen.fault === 'slow') await waited(chosen.delay_ms, signal)
  if (chosen.fault === 'down') throw unreachable(name, 'its script says that it is down')
  if (chosen.fault === 'error') throw refused(name, 'failed with a transport fault, as its script says.')
  if (chosen.fault === 'rubbish') throw answerInvalid(name, 'its script says so.')
  const content = chosen.text ?? chosen.content ?? ''
  return {
    text: typeof content === 'string' ? content : JSON.stringify(content),
    wishes: chosen.tool_calls?.map(({ args = {}, ...wish }) => ({ ...wish, args })),
    usage: { promptTokens: chosen.prompt_tokens ?? 0, completionTokens: chosen.completion_tokens ?? 0 },
  }
}

/** Resolves after the delay; without one never, until the signal fires. Rejects with the signal's reason. */
function waited(delayMs: number | undefined, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer =
      delayMs === undefined
        ? undefined
        : setTimeout(() => {
            signal.removeEventListener('abort', stop)
            resolve()
          }, delayMs)
    signal.addEventListener('abort', stop, { once: true })
  })
}
