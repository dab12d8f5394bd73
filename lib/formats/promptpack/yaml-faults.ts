/* What the library says of a text that is no YAML, in words of ours. */
import { maxDepth } from '../strict-json'

export type Say = (offset: number, code: string, message: string, mend: string, path?: string) => void

/** The library's refusals in our words, where its own would not help. */
export function libraryWords(code: string, message: string): [code: string, message: string, mend: string] {
  const mend = 'Correct the text here; what follows is read once it is YAML.'
  switch (code) {
    case 'RESOURCE_EXHAUSTION':
      return ['too_deep', `The text is nested deeper than ${maxDepth} levels.`, 'Flatten it.']
    case 'TAB_AS_INDENT':
      return ['not_yaml', 'The text is not YAML: a tab indents this line.', 'Indent with spaces.']
    case 'BAD_INDENT':
      return ['not_yaml', 'The text is not YAML: this line is indented like none before it.', mend]
    case 'TAG_RESOLVE_FAILED':
      return [
        'tag',
        'A tag stands here; a pack holds texts, numbers, true, false, null, lists and objects alone.',
        'Remove the tag.',
      ]
    default:
      return [
        'not_yaml',
        `The text is not YAML: ${lowerFirst(message).slice(0, 200).replace(/\.$/, '')}.`,
        mend,
      ]
  }
}

function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text
}
