/* How an agent answers and refuses, and how the same question gets the same answer, also after a restart. */
import type { Parts } from './agent'
import { type Claims, sha256 } from './tokens'

export type Values = Record<string, unknown>
export type Answer = { status: number; body: unknown }

const [keptMs, usedKeptMs, runsKeptMs] = [7 * 86_400_000, 960_000, 8 * 86_400_000]

export const ok = (body: unknown, status = 200): Answer => ({ status, body })

/** A refusal or a failure as problem details (RFC 9457), in the words of ATD section 5. The sentence is for people. */
export class Refusal extends Error {
  readonly answer: Answer
  constructor(status: number, code: string, detail: string, more: Values = {}) {
    super(detail)
    const words = { error_type: 'constraint_violation', severity: 'error', retriable: false, ...more }
    this.answer = { status, body: { title: code, status, code, detail, ...words } }
  }
}

export function must(holds: unknown, status: number, code: string, detail: string, more?: Values): asserts holds {
  if (!holds) throw new Refusal(status, code, detail, more)
}

/** What is answered when this was thrown. */
export function refused({ agent: { name }, log }: Parts, error: Error): Answer {
  if (error instanceof Refusal) return error.answer
  log(`${name} could not answer: ${error.message}`)
  return new Refusal(500, 'internal', `${name} could not do this.`, { retriable: true }).answer
}

/** Begins work for a run: its token serves once, and errors in that run are listened to from now on. */
export async function begin({ store, now }: Parts, { jti, wid }: Claims): Promise<void> {
  must(!(await store.get('seen', jti)), 403, 'ect_replayed', `The token ${jti} was used before.`)
  await store.put('seen', jti, { until: now() + usedKeptMs })
  await store.put('runs', wid, { until: now() + runsKeptMs })
}

/** Acts once for any of these names, each for one question. A failure that may pass is not remembered. */
export async function firstAnswer(parts: Parts, names: string[], act: () => Promise<Answer>, question = '') {
  const { agent, store, now, log } = parts
  const asked = sha256(question)
  for (const name of names) {
    const earlier = await store.get<{ answer: Answer; asked: string }>('answers', sha256(name))
    const isSame = !earlier || earlier.asked === asked
    must(isSame, 409, 'idempotency_key_reused', 'This idempotency key was used for another request.')
    if (earlier) return earlier.answer
  }
  const answer = await act()
  const isSettled = answer.status < 400 || (answer.body as Values).retriable === false
  const kept = { asked, answer, until: now() + keptMs }
  for (const name of isSettled ? names : []) await store.put('answers', sha256(name), kept)
  log(`${agent.name} answered ${answer.status} to ${names.at(-1)}`)
  return answer
}
