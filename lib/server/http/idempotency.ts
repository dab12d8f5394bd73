/*
 * The same write, sent again. A client that lost the answer repeats its request with the same `Idempotency-Key` and gets
 * the first answer; the work is not done twice. The key is looked up before any work; the answer is stored with the
 * work, in one transaction where the handler commits to the ledger (`Commit.answer`), right after it otherwise.
 *
 * Only answers below 400 are kept: a refusal did nothing, and what it was refused for may be mended meanwhile.
 */
import { hashJson, sha256 } from '@/lib/base/hash'
import { isProblem, Problem } from '@/lib/base/problem'
import type { IdempotentAnswer } from '@/lib/engine/ports'

/** Where answers are kept; lib/store has it. */
export interface AnswerStore {
  answer(scope: string, key: string): Promise<IdempotentAnswer | undefined>
  /** Keeps an answer; throws Problem `idempotency_key_reused` when the key has another request's. */
  remember(answer: IdempotentAnswer): Promise<void>
}

/** On an answer that was given before. */
const replayedHeader = 'idempotent-replayed'
/** Printable ASCII without spaces around; a UUID is what one expects. */
const keyShape = /^[\x21-\x7e]{1,200}$/

export class IdempotentRequest {
  /** True once the handler took the answer to store it with its own commit. */
  taken = false

  constructor(
    readonly scope: string,
    readonly key: string,
    readonly requestHash: string,
  ) {}

  /** The answer as it will be stored; a handler puts it in its `Commit.answer`. */
  answer(status: number, body: string): IdempotentAnswer {
    this.taken = true
    return this.answerOf(status, body)
  }

  answerOf(status: number, body: string): IdempotentAnswer {
    return { scope: this.scope, key: this.key, requestHash: this.requestHash, status, body }
  }
}

/** What the request's key stands for, or nothing when it has none. `who` is the principal; a key is its own only. */
export function idempotentRequestOf(
  request: Request,
  who: string,
  body: Uint8Array,
): IdempotentRequest | undefined {
  const key = request.headers.get('idempotency-key')
  if (key === null) return undefined
  if (!keyShape.test(key)) {
    throw new Problem(
      'bad_request',
      'The "Idempotency-Key" is not 1 to 200 printable characters without spaces; a UUID will do.',
    )
  }
  const { pathname, search } = new URL(request.url)
  const requestHash = hashJson([request.method, pathname, search, sha256(body)])
  return new IdempotentRequest(`${who} ${request.method} ${pathname}`, key, requestHash)
}

/*
 * Two of the same at once: the second waits for the first and then finds its answer. Across processes the store's
 * unique (scope, key) and the run's (run, sequence) fence decide.
 */
const underWay = new Map<string, Promise<unknown>>()

/** The first answer if there is one, else the work's, stored. Throws Problem `idempotency_key_reused`. */
export async function onceFor(
  request: IdempotentRequest,
  store: AnswerStore,
  work: () => Promise<Response>,
): Promise<Response> {
  const id = JSON.stringify([request.scope, request.key])
  for (let first = underWay.get(id); first; first = underWay.get(id)) await first.catch(() => undefined)
  const mine = replayOrWork(request, store, work)
  underWay.set(id, mine)
  try {
    return await mine
  } finally {
    underWay.delete(id)
  }
}

async function replayOrWork(
  request: IdempotentRequest,
  store: AnswerStore,
  work: () => Promise<Response>,
): Promise<Response> {
  const known = await store.answer(request.scope, request.key)
  if (known) return replay(known, request)
  const response = await work().catch(async (error: unknown) => {
    // Another process answered the same request meanwhile; its answer is this one's too.
    const theirs =
      isProblem(error, 'idempotency_key_reused') && (await store.answer(request.scope, request.key))
    if (!theirs) throw error
    return replay(theirs, request)
  })
  if (!request.taken && response.status < 400 && !response.headers.has(replayedHeader)) {
    await store.remember(request.answerOf(response.status, await response.clone().text()))
  }
  return response
}

function replay(known: IdempotentAnswer, request: IdempotentRequest): Response {
  if (known.requestHash !== request.requestHash) {
    throw new Problem(
      'idempotency_key_reused',
      'This "Idempotency-Key" was used with another request; use a new key for a new request.',
    )
  }
  return new Response(known.body === '' ? null : known.body, {
    status: known.status,
    headers: { 'content-type': 'application/json', [replayedHeader]: 'true' },
  })
}
