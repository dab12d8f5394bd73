import { AnswerTooLarge } from '@/lib/runners/models/bounded-fetch'

/**
 * A `fetch` for streamable HTTP: a JSON answer may have `maxBytes` in all, and each event of a stream as many. More
 * breaks the body off with AnswerTooLarge, which `onTooLarge` is told as well.
 */
export function streamFetch(maxBytes: number, onTooLarge: (error: AnswerTooLarge) => void): typeof fetch {
  return async (input, init) => {
    const answer = await fetch(input, init)
    if (!answer.body) return answer
    const isStream = answer.headers.get('content-type')?.includes('text/event-stream') === true
    const body = answer.body.pipeThrough(bounded(maxBytes, isStream, onTooLarge))
    return new Response(body, {
      status: answer.status,
      statusText: answer.statusText,
      headers: answer.headers,
    })
  }
}

function bounded(maxBytes: number, isStream: boolean, onTooLarge: (error: AnswerTooLarge) => void) {
  let held = 0
  let lastWasBreak = false
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (!isStream) held += chunk.byteLength
      else {
        for (const byte of chunk) {
          if (byte === 13) continue
          // An empty line ends an event, and what was held of it is handed on.
          if (byte === 10 && lastWasBreak) held = 0
          else held++
          lastWasBreak = byte === 10
        }
      }
      if (held > maxBytes) {
        const error = new AnswerTooLarge(maxBytes)
        onTooLarge(error)
        controller.error(error)
        return
      }
      controller.enqueue(chunk)
    },
  })
}
