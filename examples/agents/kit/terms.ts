/* What an author writes, and how an agent refuses. */
export type Values = Record<string, unknown>
export type Answer = { status: number; body: unknown }
export const ok = (body: unknown, status = 200): Answer => ({ status, body })

export interface Agent {
  /** SPIFFE id. */
  id: string
  name: string
  operations: Record<string, Operation>
  /** Paths that anyone may GET: `/state`. */
  reads?: Record<string, (headers: Values) => Promise<Answer>>
  /** An error was told of in a run that this agent worked for (AERR section 5). */
  onError?(signal: Values): Promise<void>
}

export interface Operation {
  consequence: 'read_only' | 'reversible' | 'irreversible'
  /** What it would do; changes nothing. May add `preview` (title, before, after) and `undo_sentence`. */
  describe(input: Values): Promise<{ sentence: string; target: string } & Values>
  /** Does it; `key` is the same for the same effect. Throws Refusal. */
  execute(input: Values, key: string): Promise<{ output: unknown; label?: string }>
  /** The state it is about to change. Equal states are to be equal text in JSON. */
  state?(): Promise<Values>
  /** Puts that state back. */
  restore?(state: Values): Promise<void>
  /** Has it happened? Undefined when looking does not tell. */
  tookEffect?(input: Values, before: Values | undefined, key: string): Promise<boolean | undefined>
}

/** A refusal or a failure as problem details (RFC 9457), in the words of ATD section 5. The sentence is for people. */
export class Refusal extends Error {
  readonly answer: Answer
  constructor(status: number, code: string, detail: string, more: Values = {}) {
    super(detail)
    const words = { error_type: 'constraint_violation', severity: 'error', retriable: false, ...more }
    this.answer = { status, body: { title: code, status, code, detail, ...words } }
  }
}

export function must(holds: unknown, status: number, code: string, detail: string, more: Values = {}): asserts holds {
  if (!holds) throw new Refusal(status, code, detail, more)
}
