/*
 * Anthropic, OpenAI, Gemini and whatever speaks OpenAI's dialect, through the AI SDK. The packages are loaded when the
 * first call is made: half a second that a command line without models never waits.
 *
 * The SDK is asked for one answer and nothing else: no retries (the step's own retry counts attempts), no redirects, no
 * telemetry. Tools are told in the provider's own words and have nothing to execute: what the model wishes comes back
 * as it is. Errors keep the status and drop the body, which may repeat prompt or key.
 */
import type { JSONSchema7, LanguageModel, ModelMessage, Output, ToolCallPart, ToolSet } from 'ai'
import { sha256 } from '@/lib/base/hash'
import type { JsonObject } from '@/lib/base/json'
import { EffectFailed, type ModelCall, type ToolUse } from '@/lib/runners/runner'
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
import { AnswerTooLarge, boundedFetch } from './bounded-fetch'
import { paired } from './conversation'
import { keyOf } from './key'
import { statusInWords } from './status-words'
import type { RawAnswer } from './tool-uses'

export type SdkProvider = 'anthropic' | 'openai' | 'gemini' | 'openai-compatible'

/** Tokens an answer may have unless the call says otherwise; Anthropic's API needs a figure. */
const defaultMaxTokens = 1_024

// The SDK prints its warnings to the console unless told otherwise.
const quiet = globalThis as { AI_SDK_LOG_WARNINGS?: boolean }

/** A backend of one of the SDK's providers. */
export function sdkBackend(
  backend: Backend & { provider: SdkProvider },
  surroundings: BackendSurroundings,
): ModelBackend {
  return {
    async ask(call, signal) {
      quiet.AI_SDK_LOG_WARNINGS = false
      const [{ generateText, jsonSchema }, model] = await Promise.all([
        import('ai'),
        modelOf(backend, await keyOf(backend, surroundings)),
      ])
      try {
        const answer = await generateText({
          model,
          maxRetries: 0,
          abortSignal: signal,
          maxOutputTokens: call.maxTokens ?? defaultMaxTokens,
          temperature: call.temperature,
          topP: call.topP,
          ...messagesOf(call),
          ...toolsOf(call, jsonSchema),
          ...(takesSchema(backend.provider, call) ? structured(call.schema) : {}),
        })
        const wishes = answer.toolCalls.map(({ toolCallId, toolName, input }) => {
          return { id: toolCallId, name: offeredName(toolName, call), args: input as unknown }
        })
        if (answer.text === '' && wishes.length === 0) {
          throw answerInvalid(
            backend.name,
            `it holds no text${call.tools?.length ? ' and uses no tool' : ''}.`,
          )
        }
        return {
          text: answer.text,
          wishes,
          usage: {
            promptTokens: answer.usage.inputTokens ?? 0,
            completionTokens: answer.usage.outputTokens ?? 0,
          },
        } satisfies RawAnswer
      } catch (error) {
        throw signal.aborted || error instanceof EffectFailed ? error : spoken(backend.name, error)
      }
    },
  }
}

async function modelOf(
  backend: Backend & { provider: SdkProvider },
  apiKey: string | undefined,
): Promise<LanguageModel> {
  const { name, model, provider } = backend
  if (!model) throw misconfigured(name, 'names no model; add model = "…".')
  if (provider !== 'openai-compatible' && !apiKey) {
    throw misconfigured(name, `names no key; ${provider} needs api_key_env, the name of a variable.`)
  }
  const baseURL = versioned(backend.baseUrl, provider === 'gemini' ? '/v1beta' : '/v1', name)
  switch (provider) {
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return createAnthropic({ apiKey, baseURL, fetch: boundedFetch(maxAnswerBytes, asMessage) })(model)
    }
    case 'gemini': {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google')
      return createGoogleGenerativeAI({ apiKey, baseURL, fetch: boundedFetch(maxAnswerBytes) })(model)
    }
    case 'openai': {
      if (baseURL) return compatible(baseURL, model, apiKey)
      const { createOpenAI } = await import('@ai-sdk/openai')
      return createOpenAI({ apiKey, fetch: boundedFetch(maxAnswerBytes) }).chat(model)
    }
    case 'openai-compatible':
      if (!baseURL) throw misconfigured(name, 'names no address; openai-compatible needs base_url.')
      return compatible(baseURL, model, apiKey)
    default:
      return provider satisfies never
  }
}

/** Proxies and local servers leave out members that OpenAI's own client insists on; this one does not. */
async function compatible(baseURL: string, model: string, apiKey: string | undefined) {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  return createOpenAICompatible({
    name: 'openaiCompatible',
    baseURL,
    apiKey,
    supportsStructuredOutputs: true,
    fetch: boundedFetch(maxAnswerBytes),
  })(model)
}

/** People write the address with its version (`…:8000/v1`) and without it; both mean the same endpoint. */
function versioned(baseUrl: string | undefined, version: string, name: string): string | undefined {
  if (!baseUrl) return undefined
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw misconfigured(name, 'has a base_url that is no http or https address without a password in it.')
  }
  const trimmed = baseUrl.replace(/\/+$/, '')
  return /\/v\d\w*(\/|$)/.test(url.pathname) ? trimmed : trimmed + version
}

/** Gateways answer in Anthropic's shape and leave out its `type`. */
function asMessage(text: string): string {
  try {
    const answer = JSON.parse(text) as JsonObject
    if (!Array.isArray(answer.content) || answer.type !== undefined) return text
    return JSON.stringify({ ...answer, type: 'message' })
  } catch {
    return text
  }
}

/** The conversation in the SDK's words. Gemini's thought signatures are not kept: the SDK sends Google's own stand-in. */
function messagesOf(call: ModelCall): { system?: string; messages: ModelMessage[] } {
  const system = call.messages.filter(({ role }) => role === 'system').map(({ text }) => text)
  const messages = paired(call.messages).flatMap((message): ModelMessage[] => {
    const { role, text } = message
    switch (role) {
      case 'system':
        return []
      case 'user':
        return [{ role, content: text }]
      case 'assistant':
        return [
          { role, content: message.uses?.length ? [...textPart(text), ...message.uses.map(asCall)] : text },
        ]
      case 'tool': {
        const { id, name, isError } = message
        const output = { type: isError ? ('error-text' as const) : ('text' as const), value: text }
        return [
          { role, content: [{ type: 'tool-result', toolCallId: id, toolName: wireName(name), output }] },
        ]
      }
      default:
        return role satisfies never
    }
  })
  // Providers want somebody to have spoken; a call that is all instruction is then what the user says.
  if (messages.length === 0) return { messages: [{ role: 'user', content: system.join('\n\n') }] }
  return { ...(system.length > 0 ? { system: system.join('\n\n') } : {}), messages }
}

function textPart(text: string) {
  return text === '' ? [] : [{ type: 'text' as const, text }]
}

function asCall({ id, name, args }: ToolUse): ToolCallPart {
  return { type: 'tool-call', toolCallId: id, toolName: wireName(name), input: args }
}

function toolsOf({ tools = [], toolChoice }: ModelCall, jsonSchema: typeof import('ai').jsonSchema) {
  if (tools.length === 0) return {}
  const set: ToolSet = {}
  for (const { name, description, parameters } of tools) {
    // Providers want the arguments to be an object, and authors leave that out.
    set[wireName(name)] = { description, inputSchema: jsonSchema({ type: 'object', ...parameters }) }
  }
  return { tools: set, toolChoice: toolChoice ?? 'auto' }
}

/** A tool's name as every provider takes it; one that none would take gets a spelling of its own. */
function wireName(name: string): string {
  if (/^[A-Za-z][\w-]{0,63}$/.test(name)) return name
  return `t_${name.replace(/[^\w-]/g, '_').slice(0, 48)}_${sha256(name).slice(0, 12)}`
}

function offeredName(wire: string, { tools = [] }: ModelCall): string {
  return tools.find(({ name }) => wireName(name) === wire)?.name ?? wire
}

/** Anthropic's API knows structured output for some models only; Gemini's refuses it beside tools. */
function takesSchema(provider: SdkProvider, { tools = [] }: ModelCall): boolean {
  return provider !== 'anthropic' && (provider !== 'gemini' || tools.length === 0)
}

/** Tells the model of the schema, and takes the text as it comes: the step itself checks it, and says what is wrong. */
function structured(schema: JsonObject | undefined) {
  if (!schema) return {}
  const asText: ReturnType<typeof Output.text> = {
    name: 'text',
    responseFormat: Promise.resolve({ type: 'json', schema: schema as JSONSchema7 }),
    parseCompleteOutput: async ({ text }) => text,
    parsePartialOutput: async ({ text }) => ({ partial: text }),
    createElementStreamTransform: () => undefined,
  }
  return {
    output: asText,
    // An author's schema need not be of OpenAI's strict subset.
    providerOptions: {
      openai: { strictJsonSchema: false },
      openaiCompatible: { strictJsonSchema: false },
    },
  }
}

/** The SDK's error as a sentence of ours, by its marks; the SDK is not imported for it. */
function spoken(name: string, error: unknown): Error {
  const chain = causes(error)
  const large = chain.find((one) => one instanceof AnswerTooLarge)
  if (large) return answerInvalid(name, large.message)
  const status = chain.map((one) => (one as { statusCode?: unknown }).statusCode).find(isNumber)
  if (status !== undefined && (status < 200 || status >= 300))
    return refused(name, statusInWords(status), status)
  const code = chain
    .map((one) => (one as { code?: unknown }).code)
    .find((one): one is string => typeof one === 'string' && /^[A-Z_]{3,40}$/.test(one))
  if (code) return unreachable(name, code)
  if (chain.some((one) => /^(AI_NoOutputGenerated|AI_NoContentGenerated)/.test(one.name))) {
    return answerInvalid(name, 'it holds no text.')
  }
  if (chain.some((one) => one.message === 'fetch failed' || /Cannot connect/.test(one.message))) {
    return unreachable(name, 'the connection failed')
  }
  return answerInvalid(name, 'it has not the shape this provider documents.')
}

function causes(error: unknown): Error[] {
  const chain: Error[] = []
  for (let at = error; at instanceof Error && chain.length < 8; at = at.cause) {
    chain.push(at, ...((at as { errors?: unknown[] }).errors ?? []).filter((one) => one instanceof Error))
  }
  return chain
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}
