/*
 * Model backends by name. A workflow names its own; what it does not name, the installation may (models.ts' caller
 * reads `models.json` and agentd's switches, see installation-backends.ts). A workflow's name wins over the same name
 * of the installation.
 *
 *   ask ─▶ known? ─▶ budget left? ─▶ [ backend, until the step's signal or the backend's own bound ] ─▶ count ─▶ answer
 *
 * What comes back is data: a text, and wishes to use tools that have a checked shape and nothing more (tool-uses.ts).
 * No tool is called here, no path opened, no edge taken because a model said so. Keys are looked up for each call and stand in no error, no log and no value.
 */
import { type Calls, EffectFailed, type ModelCall, type Models } from '@/lib/runners/runner'
import type { Backend } from '@/lib/workflow/graph'
import { answerInvalid, type BackendSurroundings, type ModelBackend, tooLate } from './backend'
import { httpBackend, unixBackend } from './rpc-backend'
import { type Script, ScriptPositions, scriptedBackend } from './scripted-backend'
import { sdkBackend } from './sdk-backend'
import { checkedAnswer, type RawAnswer } from './tool-uses'
import { unknownBackend } from './unknown-backend'

/** One call may take this long, whatever the step allows: agentd's own bound. */
const askTimeoutMs = 120_000
/** Longest text of an answer; a longer one is no answer to a bounded question. */
const maxTextChars = 1_048_576
/** All messages of one call together, with the tools and what was wished of them. */
const maxPromptChars = 4 * 1_048_576

/** A backend, and the answers it gives when they are not in a file (fixtures). */
export type ConfiguredBackend = Backend & { script?: Script }

export interface ModelSources extends BackendSurroundings {
  /** The workflow's own. */
  backends: readonly ConfiguredBackend[]
  installationBackends: readonly ConfiguredBackend[]
  /**
   * Called with 0 before a call and with its tokens after it; throws EffectFailed `budget_exhausted` when the run may
   * spend no more.
   */
  spend(tokens: number): void | Promise<void>
  /** What a scripted backend's position is kept by: the run, or the run that began it. */
  run: string
  positions?: ScriptPositions
  /** Breakers that calls go through; absent: none. */
  calls?: Calls
  /** Milliseconds one call may take; absent: 120,000. */
  timeoutMs?: number
}

/** The models a step may ask. Opening reads nothing and connects to nothing. */
export function openModels(sources: ModelSources): Models {
  const byName = new Map<string, ConfiguredBackend>()
  for (const backend of [...sources.backends, ...sources.installationBackends]) {
    if (!byName.has(backend.name)) byName.set(backend.name, backend)
  }
  const names = [...byName.keys()].sort()
  return {
    names: () => names,
    async ask(call, signal) {
      const backend = byName.get(call.backend)
      if (!backend) throw unknownBackend(call.backend, names)
      checkPrompt(call)
      await sources.spend(0)
      const asked = () => inTime(opened(backend, sources), call, signal, sources.timeoutMs ?? askTimeoutMs)
      const answer = await (sources.calls?.through(`backend:${backend.name}`, asked) ?? asked())
      await sources.spend(answer.usage.promptTokens + answer.usage.completionTokens)
      if (answer.text.length > maxTextChars) {
        throw answerInvalid(
          backend.name,
          `it has more than ${maxTextChars.toLocaleString('en-US')} characters.`,
        )
      }
      return checkedAnswer(call, answer)
    },
  }
}

function checkPrompt({ backend, messages, tools = [] }: ModelCall): void {
  const said = messages.reduce((sum, { text }) => sum + text.length, 0)
  const uses = messages.flatMap((message) => (message.role === 'assistant' ? (message.uses ?? []) : []))
  const ofTools = tools.length + uses.length === 0 ? 0 : JSON.stringify([tools, uses]).length
  const chars = said + ofTools
  if (chars <= maxPromptChars) return
  throw new EffectFailed(
    'too_large',
    `What would be sent to the model backend "${backend}" has ${chars.toLocaleString('en-US')} characters; at most ${maxPromptChars.toLocaleString('en-US')} are sent.`,
    { errorType: 'constraint_violation' },
  )
}

function opened(backend: ConfiguredBackend, sources: ModelSources): ModelBackend {
  const { provider } = backend
  switch (provider) {
    case 'anthropic':
    case 'openai':
    case 'gemini':
    case 'openai-compatible':
      return sdkBackend({ ...backend, provider }, sources)
    case 'unix':
      return unixBackend(backend)
    case 'http':
      return httpBackend(backend, sources)
    case 'scripted':
      return scriptedBackend(backend, {
        ...sources,
        positions: sources.positions ?? processPositions,
        known: backend.script,
      })
    default:
      return provider satisfies never
  }
}

const processPositions = new ScriptPositions()

/** Ends with the backend's answer or in time, even where the backend ignores its signal. */
async function inTime(
  backend: ModelBackend,
  call: ModelCall,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<RawAnswer> {
  const over = new AbortController()
  const stop = () => over.abort()
  const timer = setTimeout(stop, timeoutMs)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  const late = new Promise<never>((_resolve, reject) => {
    const end = () => reject(tooLate(call.backend))
    if (over.signal.aborted) end()
    else over.signal.addEventListener('abort', end, { once: true })
  })
  try {
    return await Promise.race([backend.ask(call, over.signal), late])
  } catch (error) {
    throw over.signal.aborted ? tooLate(call.backend) : error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    // A late answer of a backend that went on regardless is nobody's.
    over.abort()
    late.catch(() => undefined)
  }
}
