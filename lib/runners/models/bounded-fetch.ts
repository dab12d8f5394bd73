/*
 * `fetch` as model backends are given it: the answer is read whole, up to a bound, and a redirect is an answer like
 * any other. A key must not travel to wherever a `Location` points.
 */

export class AnswerTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`it is larger than ${maxBytes.toLocaleString('en-US')} bytes.`)
  }
}

/** A `fetch` that reads at most `maxBytes` of an answer; more throws AnswerTooLarge. `mend` may complete a JSON answer. */
export function boundedFetch(maxBytes: number, mend?: (text: string) => string): typeof fetch {
  return async (input, init) => {
    const answer = await fetch(input, { ...init, redirect: 'manual' })
    const text = await boundedText(answer, maxBytes)
    const headers = new Headers(answer.headers)
    // The text is decoded and whole already.
    for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) headers.delete(name)
    // A redirect, and an answer that has no body by its status, are handed on as what they are: no answer.
    const status = answer.status < 200 || [204, 205, 304].includes(answer.status) ? 502 : answer.status
    return new Response(answer.ok && mend ? mend(text) : text, { status, headers })
  }
}

/** The body as text. Throws AnswerTooLarge, and stops reading, past `maxBytes`. */
export async function boundedText(answer: Response, maxBytes: number): Promise<string> {
  if (!answer.body) return ''
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer.body) {
    bytes += chunk.byteLength
    // Leaving the loop cancels the stream.
    if (bytes > maxBytes) throw new AnswerTooLarge(maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
