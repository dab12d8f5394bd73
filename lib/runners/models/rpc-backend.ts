/*
 * agentd's own protocol: one JSON-RPC 2.0 request `complete`, one answer, over a Unix socket in frames (four bytes of
 * length, little-endian, then UTF-8 JSON) or as the body of an HTTP POST. One connection a call. The protocol knows no
 * tools, so they are told and answered in words.
 */
import { connect } from 'node:net'
import { z } from 'zod'
import { EffectFailed, type ModelCall } from '@/lib/runners/runner'
import type { Backend } from '@/lib/workflow/graph'
import {
  answerInvalid,
  type BackendSurroundings,
  type ModelBackend,
  maxAnswerBytes,
  misconfigured,
  refused,
  unreachable,
} from './backend'
import { AnswerTooLarge, boundedText } from './bounded-fetch'
import { keyOf } from './key'
import { statusInWords } from './status-words'
import type { RawAnswer } from './tool-uses'
import { inWords, outOfWords } from './tools-in-words'

const tokens = z.int().min(0).max(1e9).nullish()

const rpcAnswer = z.object({
  result: z
    .object({
      content: z.string(),
      usage: z.object({ prompt_tokens: tokens, completion_tokens: tokens }).nullish(),
    })
    .nullish(),
  error: z.object({ code: z.number() }).nullish(),
})

/** A backend behind a Unix socket at `path`. */
export function unixBackend(backend: Backend): ModelBackend {
  return {
    async ask(call, signal) {
      if (!backend.path) throw misconfigured(backend.name, 'names no socket; it needs a path.')
      const answer = await framed(backend.path, requestOf(backend, call), signal).catch((error: unknown) => {
        throw signal.aborted ? error : spoken(backend.name, error)
      })
      return answered(backend.name, answer, call)
    },
  }
}

/** A backend that is sent the same request by HTTP, with a bearer token where its definition names one. */
export function httpBackend(backend: Backend, surroundings: BackendSurroundings): ModelBackend {
  return {
    async ask(call, signal) {
      const { name, baseUrl } = backend
      if (!baseUrl || !/^https?:\/\//.test(baseUrl) || !URL.canParse(baseUrl)) {
        throw misconfigured(name, 'has no address that begins with http:// or https://.')
      }
      const bearer = await keyOf(backend, surroundings)
      try {
        const answer = await fetch(baseUrl, {
          method: 'POST',
          redirect: 'manual',
          signal,
          headers: {
            'content-type': 'application/json',
            ...(bearer ? { authorization: `Bearer ${bearer}` } : {}),
          },
          body: requestOf(backend, call),
        })
        const text = await boundedText(answer, maxAnswerBytes)
        if (!answer.ok) throw refused(name, statusInWords(answer.status), answer.status)
        return answered(name, text, call)
      } catch (error) {
        throw signal.aborted ? error : spoken(name, error)
      }
    },
  }
}

function requestOf(backend: Backend, call: ModelCall): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'complete',
    params: {
      model: backend.model ?? 'fast',
      messages: inWords(call),
      ...(call.maxTokens === undefined ? {} : { max_tokens: call.maxTokens }),
      ...(call.temperature === undefined ? {} : { temperature: call.temperature }),
      ...(call.topP === undefined ? {} : { top_p: call.topP }),
    },
  })
}

/** Sends one frame and reads one. Rejects with the socket's error, AnswerTooLarge, or the signal's reason. */
function framed(path: string, request: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    const chunks: Buffer[] = []
    let held = 0
    let wanted: number | undefined
    const end = (settle: () => void) => {
      signal.removeEventListener('abort', aborted)
      socket.destroy()
      settle()
    }
    const aborted = () => end(() => reject(signal.reason))
    if (signal.aborted) return aborted()
    signal.addEventListener('abort', aborted, { once: true })
    socket.on('error', (error) => end(() => reject(error)))
    socket.on('close', () => end(() => reject(new Error('closed early'))))
    socket.on('connect', () => {
      const payload = Buffer.from(request)
      const length = Buffer.alloc(4)
      length.writeUInt32LE(payload.byteLength)
      socket.write(Buffer.concat([length, payload]))
    })
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      held += chunk.byteLength
      if (wanted === undefined && held >= 4) {
        wanted = Buffer.concat(chunks).readUInt32LE(0)
        if (wanted > maxAnswerBytes) return end(() => reject(new AnswerTooLarge(maxAnswerBytes)))
      }
      if (wanted !== undefined && held >= wanted + 4) {
        const frame = Buffer.concat(chunks).subarray(4, wanted + 4)
        end(() => resolve(frame.toString('utf8')))
      }
    })
  })
}

function answered(name: string, text: string, { tools = [] }: ModelCall): RawAnswer {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw answerInvalid(name, 'it is not JSON.')
  }
  const parsed = rpcAnswer.safeParse(json)
  if (!parsed.success) throw answerInvalid(name, 'it is not the JSON-RPC answer that was expected.')
  const { result, error } = parsed.data
  if (error) throw refused(name, `answered with the JSON-RPC error ${error.code}; its log says why.`)
  if (!result) throw answerInvalid(name, 'it holds neither a result nor an error.')
  const answer = {
    text: result.content,
    usage: {
      promptTokens: result.usage?.prompt_tokens ?? 0,
      completionTokens: result.usage?.completion_tokens ?? 0,
    },
  }
  return tools.length === 0 ? answer : outOfWords(answer)
}

function spoken(name: string, error: unknown): Error {
  if (error instanceof EffectFailed) return error
  if (error instanceof AnswerTooLarge) return answerInvalid(name, error.message)
  const cause = error instanceof Error ? (error.cause ?? error) : error
  const code = (cause as { code?: unknown }).code
  return unreachable(name, typeof code === 'string' ? code : 'the connection ended early')
}
