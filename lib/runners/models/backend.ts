import { EffectFailed, type ModelCall } from '@/lib/runners/runner'
import type { RawAnswer } from './tool-uses'

/** One way to a model: it answers one call, or throws EffectFailed with a reason. What it wishes is not looked at. */
export interface ModelBackend {
  ask(call: ModelCall, signal: AbortSignal): Promise<RawAnswer>
}

/** What a backend is made of besides its own definition. Keys are looked up at each call and kept nowhere. */
export interface BackendSurroundings {
  /** A variable of the server's environment. */
  env(name: string): string | undefined
  /** A secret of the workflow or the installation, by name. */
  secret(name: string): Promise<string | undefined>
  /** The text of a file the author or the administrator named; undefined when there is none to read. */
  read(path: string): Promise<string | undefined>
}

/** Largest answer of a backend: more is no answer to a bounded question. */
export const maxAnswerBytes = 8 * 1_048_576

/** Nothing answered at the backend's address, or the connection broke. */
export function unreachable(name: string, why: string): EffectFailed {
  return new EffectFailed(
    'backend_unreachable',
    `The model backend "${name}" could not be reached: ${why}; check that it runs and its address.`,
    { retriable: true },
  )
}

/** The backend answered with a refusal or an error of its own. Its words are left out: they may repeat the prompt. */
export function refused(name: string, what: string, status?: number): EffectFailed {
  return new EffectFailed('backend_refused', `The model backend "${name}" ${what}`, {
    retriable: true,
    // It takes no such request; a fault of its own is another thing.
    answered: status !== undefined && status >= 400 && status < 500,
  })
}

/** The backend answered, and the answer is none. */
export function answerInvalid(name: string, what: string): EffectFailed {
  return new EffectFailed('answer_invalid', `The model backend "${name}" answered rubbish: ${what}`, {
    retriable: true,
  })
}

/** No answer came while there was time. */
export function tooLate(name: string): EffectFailed {
  return new EffectFailed(
    'backend_timeout',
    `The model backend "${name}" did not answer in time; nothing waits for it any more.`,
    { errorType: 'timeout' },
  )
}

/** The backend's definition lacks something, which trying again cannot mend. */
export function misconfigured(name: string, what: string): EffectFailed {
  return new EffectFailed('backend_misconfigured', `The model backend "${name}" ${what}`, {
    errorType: 'constraint_violation',
  })
}
