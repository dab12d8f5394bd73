/* The conversation of a turn, as it is kept between its thoughts and, for persistent states, between turns. */
import { z } from 'zod'
import type { Json } from '@/lib/base/json'

/** Of one message. */
const maxMessageChars = 65_536
/** Of all that is told again at each round; older results of tools make room for newer ones. */
const maxTalkChars = 1_048_576
const maxMessages = 1_000

const toolUse = z.strictObject({
  id: z.string(),
  name: z.string(),
  args: z.record(z.string(), z.json()),
})

export type KeptToolUse = z.infer<typeof toolUse>

export const turnMessage = z.union([
  z.strictObject({ role: z.literal('user'), text: z.string() }),
  z.strictObject({ role: z.literal('assistant'), text: z.string(), uses: z.array(toolUse).optional() }),
  z.strictObject({
    role: z.literal('tool'),
    id: z.string(),
    name: z.string(),
    text: z.string(),
    isError: z.literal(true).optional(),
  }),
])

export type TurnMessage = z.infer<typeof turnMessage>

export { toolUse }

function charsOf(message: TurnMessage): number {
  const uses = message.role === 'assistant' ? (message.uses ?? []) : []
  return message.text.length + (uses.length > 0 ? JSON.stringify(uses).length : 0)
}

function withoutContents(message: TurnMessage): TurnMessage {
  const text = '(dropped to make room)'
  if (message.role !== 'assistant' || !message.uses) return { ...message, text }
  return { ...message, text, uses: message.uses.map((use) => ({ ...use, args: {} })) }
}

/** What a tool gave, as its message: bounded, and never taken for anything but data. */
export function toolMessage({ id, name }: KeptToolUse, result: Json, isError = false): TurnMessage {
  const text = typeof result === 'string' ? result : JSON.stringify(result)
  return { role: 'tool', id, name, text: clipped(text), ...(isError && { isError: true as const }) }
}

/** One message within its bound. */
export function clipped(text: string): string {
  if (text.length <= maxMessageChars) return text
  return `${text.slice(0, maxMessageChars).replace(/[\ud800-\udbff]$/, '')}… (${text.length - maxMessageChars} more characters)`
}

/** The talk within its bounds: the oldest texts and arguments are given up first, whole exchanges only after them. */
export function boundedTalk(talk: readonly TurnMessage[]): TurnMessage[] {
  let chars = talk.reduce((sum, message) => sum + charsOf(message), 0)
  const kept = talk.map((message) => {
    if (chars <= maxTalkChars || charsOf(message) < 200) return message
    const dropped = withoutContents(message)
    chars -= charsOf(message) - charsOf(dropped)
    return dropped
  })
  if (kept.length <= maxMessages) return kept
  // A result without its call, or a call without its result, is refused by models: cut where a turn begins.
  const from = kept.findIndex(({ role }, at) => at >= kept.length - maxMessages && role === 'user')
  return from === -1 ? kept.slice(-1) : kept.slice(from)
}
