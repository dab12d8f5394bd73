/** A value that is edited as text: what it was, what it is now, and whether that is another one. */
import { canonicalJson } from '@/lib/base/canonical-json'
import type { Json } from '@/lib/base/json'

export interface ValueDraft {
  /** The text as it was, and as it stands. */
  before: string
  text: string
  isJson: boolean
}

export type DraftState =
  | { is: 'same' }
  | { is: 'changed'; value: Json }
  /** One sentence: what is wrong with the text. */
  | { is: 'wrong'; why: string }

/** A draft of a value; undefined stands for one that was never written. */
export function draftOf(value: Json | undefined, isJson: boolean): ValueDraft {
  const text = value === undefined ? '' : isJson ? JSON.stringify(value, null, 2) : String(value)
  return { before: text, text, isJson }
}

/** What the draft means. A text emptied is an empty text; JSON emptied that was never written is still that. */
export function draftState({ before, text, isJson }: ValueDraft): DraftState {
  if (text === before) return { is: 'same' }
  if (!isJson) return { is: 'changed', value: text }
  const value = parsed(text)
  if (value === undefined) {
    return {
      is: 'wrong',
      why: 'This is not JSON; text goes in quotation marks, and nothing follows a last member.',
    }
  }
  const was = parsed(before)
  return was !== undefined && canonicalJson(was) === canonicalJson(value)
    ? { is: 'same' }
    : { is: 'changed', value }
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
