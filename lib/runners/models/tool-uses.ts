/*
 * What a model says of tools is a wish. Before a wish reaches a caller it has a shape: few of them, names of a length,
 * arguments that are one JSON object of bounded size and depth. Whether there is such a tool, whether the arguments fit
 * it and whether it may be used is the caller's to say, who can tell the model.
 *
 * One wish that has not this shape makes the whole answer plain text that says so. Arguments nobody wrote are never
 * put in their place, and half of an answer is not acted on.
 */
import { isJsonObject, type Json } from '@/lib/base/json'
import { deeperThan, maxJsonDepth } from '@/lib/runners/parse-bounded'
import type { ModelAnswer, ModelCall, ModelMessage, ToolUse } from '@/lib/runners/runner'
import { oneLine } from '@/lib/runners/words'

export const maxUses = 32
/** Of one use, as JSON text in UTF-8. */
export const maxArgsBytes = 262_144
const maxNameChars = 128

/** A wish as a backend found it in an answer. */
export interface WishedUse {
  id?: string
  name: unknown
  args: unknown
}

/** An answer as a backend found it. */
export interface RawAnswer {
  text: string
  wishes?: readonly WishedUse[]
  usage: ModelAnswer['usage']
}

/**
 * The answer as the caller gets it. Wishes without a usable id are given one that no other use of the conversation
 * has. Where a wish is malformed, or tools were not offered, the answer is its text and a sentence that says what was
 * wrong; it repeats nothing of the arguments.
 */
export function checkedAnswer(call: ModelCall, { text, wishes = [], usage }: RawAnswer): ModelAnswer {
  if (wishes.length === 0) return { text, usage }
  const fault = faultOf(call, wishes)
  if (fault) return { text: [text, `(No tool was used: ${fault}.)`].filter(Boolean).join('\n\n'), usage }
  return { text, uses: withIds(call.messages, wishes as readonly SoundWish[]), usage }
}

type SoundWish = WishedUse & Pick<ToolUse, 'name' | 'args'>

function faultOf({ tools = [] }: ModelCall, wishes: readonly WishedUse[]): string | undefined {
  if (tools.length === 0) return 'no tools were offered'
  if (wishes.length > maxUses) {
    return `the answer asks for ${wishes.length} uses at once, and at most ${maxUses} are taken`
  }
  for (const [at, { name, args }] of wishes.entries()) {
    const which = wishes.length === 1 ? 'the use' : `use ${at + 1}`
    if (typeof name !== 'string' || name.trim() === '' || name.length > maxNameChars) {
      return `${which} names no tool; a name has 1 to ${maxNameChars} characters`
    }
    const called = oneLine(name, 60)
    if (!isJsonObject(args)) return `the arguments for "${called}" are not a JSON object`
    if (deeperThan(args as Json, maxJsonDepth)) {
      return `the arguments for "${called}" are nested deeper than ${maxJsonDepth} levels`
    }
    const bytes = Buffer.byteLength(JSON.stringify(args))
    if (bytes > maxArgsBytes) {
      return `the arguments for "${called}" have ${bytes.toLocaleString('en-US')} bytes, and at most ${maxArgsBytes.toLocaleString('en-US')} are taken`
    }
  }
  return undefined
}

function withIds(messages: readonly ModelMessage[], wishes: readonly SoundWish[]): ToolUse[] {
  const before = messages.flatMap((message) => (message.role === 'assistant' ? (message.uses ?? []) : []))
  const taken = new Set(before.map(({ id }) => id))
  return wishes.map(({ id, name, args }, at) => {
    const own = id !== undefined && /^[\w.:-]{1,128}$/.test(id) && !taken.has(id)
    const chosen = own ? id : freeId(taken, before.length + at + 1)
    taken.add(chosen)
    return { id: chosen, name, args }
  })
}

function freeId(taken: ReadonlySet<string>, from: number): string {
  let number = from
  while (taken.has(`use_${number}`)) number++
  return `use_${number}`
}
