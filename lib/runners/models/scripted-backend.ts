/*
 * A backend that answers from a list, in order: for fixtures, tests and the lab. What a real backend can do wrong it
 * does on request, so that a workflow's answer to it can be tried out.
 *
 *   { "answers": [ "positive", { "content": "…", "prompt_tokens": 12, "completion_tokens": 1 }, { "fault": "down" } ] }
 *
 * How far a run has come in a script is kept in memory by run: another process begins the script anew.
 */
import { parse as parseToml } from 'smol-toml'
import { z } from 'zod'
import { EffectFailed, type ModelAnswer } from '@/lib/runners/runner'
import type { Backend } from '@/lib/workflow/graph'
import {
  answerInvalid,
  type BackendSurroundings,
  type ModelBackend,
  misconfigured,
  refused,
  unreachable,
} from './backend'

const tokens = z.int().min(0).max(1e9).optional()

const answer = z.union([
  z.string(),
  z.strictObject({
    /** A text, or a value that is given as its JSON text. */
    content: z.json().optional(),
    prompt_tokens: tokens,
    completion_tokens: tokens,
    fault: z.enum(['down', 'slow', 'rubbish', 'error']).optional(),
    delay_ms: z.int().min(0).max(600_000).optional(),
  }),
])

const script = z.strictObject({
  answers: z.array(answer).max(100_000),
  /** After the last answer the first one follows again. */
  repeat: z.boolean().optional(),
})

export type ScriptedAnswer = z.infer<typeof answer>
export type Script = z.infer<typeof script>

const maxRunsKept = 10_000

/** How far each run has come in each script, and what was asked. One for a process, or one for a fixture's trial. */
export class ScriptPositions {
  private readonly positions = new Map<string, number>()

  /** The number of this call, from 0. */
  next(run: string, backend: string): number {
    const key = `${run}/${backend}`
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
    `has a script that is not one${place ? ` (at ${place})` : ''}; it needs answers = […].`,
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
    async ask(_call, signal) {
      const { known, positions, run } = surroundings
      const { answers, repeat } = known ?? (await fromFile(backend, surroundings))
      const at = positions.next(run, backend.name)
      const chosen = answers[repeat && answers.length > 0 ? at % answers.length : at]
      if (chosen === undefined) {
        throw new EffectFailed(
          'answer_missing',
          `The script of the model backend "${backend.name}" has ${answers.length} answers, and this was call ${at + 1}; add one.`,
        )
      }
      return given(backend.name, chosen, signal)
    },
  }
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

async function given(name: string, chosen: ScriptedAnswer, signal: AbortSignal): Promise<ModelAnswer> {
  if (typeof chosen === 'string') return { text: chosen, usage: { promptTokens: 0, completionTokens: 0 } }
  if (chosen.delay_ms || chosen.fault === 'slow') await waited(chosen.delay_ms, signal)
  if (chosen.fault === 'down') throw unreachable(name, 'its script says that it is down')
  if (chosen.fault === 'error') throw refused(name, 'failed with a transport fault, as its script says.')
  if (chosen.fault === 'rubbish') throw answerInvalid(name, 'its script says so.')
  const content = chosen.content ?? ''
  return {
    text: typeof content === 'string' ? content : JSON.stringify(content),
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
