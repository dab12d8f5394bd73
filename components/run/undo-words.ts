import { isJsonObject, type Json } from '@/lib/base/json'
import type { UndoMethod } from '@/lib/checkpoint/terms'
import { asSentence } from '@/lib/view/plain-words'

/** What can be said of how a step is undone where its action does not say it. */
const withoutWords: Record<UndoMethod, string> = {
  restore: 'Puts back the state sealed before it.',
  remote: 'Its agent puts back the state sealed before it.',
  compensate: 'Another action makes up for it.',
}

/**
 * How a step is undone, as its approval says it. `action` is the step's action as it was recorded; absent while it is
 * read. The checkpoint's own sentence is no help: it says what the step did.
 */
export function undoWords(action: Json | undefined, undo: UndoMethod): string {
  const said = action !== undefined && isJsonObject(action) ? action.undoSentence : undefined
  return typeof said === 'string' && said.trim() !== '' ? asSentence(said) : withoutWords[undo]
}
