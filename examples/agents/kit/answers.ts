/* How an agent answers, and how it refuses. */

export type Values = Record<string, unknown>
export type Answer = { status: number; body: unknown }

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

type Answering = { agent: { name: string }; log(sentence: string): void }
/** What is answered when this was thrown. */
export function refused(error: Error, { agent, log }: Answering): Answer {
  if (error instanceof Refusal) return error.answer
  log(`${agent.name} could not answer: ${error.message}`)
  return new Refusal(500, 'internal', `${agent.name} could not do this.`, { retriable: true }).answer
}
