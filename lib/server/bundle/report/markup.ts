/*
 * HTML that cannot be broken out of. A report is made of what agents, models and strangers wrote: whatever is put into a
 * template is text, unless it is Markup, and Markup is made by templates alone. A text is put in as it is and never
 * looked at again: `{{…}}` and `$&` are letters like any other.
 *
 * Characters that nobody sees, or that turn the direction of what stands around them, are shown by their number.
 */

/** HTML that a template made. */
export class Markup {
  readonly text: string

  /** For this file's templates alone. */
  constructor(text: string) {
    this.text = text
  }
}

export type Piece = string | number | Markup | undefined | false | readonly Piece[]

/** A piece of HTML: values become text, Markup stays, lists are put one after another, `undefined` and `false` are nothing. */
export function html(parts: TemplateStringsArray, ...values: readonly Piece[]): Markup {
  let text = parts[0] as string
  for (const [at, value] of values.entries()) text += written(value) + (parts[at + 1] as string)
  return new Markup(text)
}

function written(piece: Piece): string {
  if (piece === undefined || piece === false) return ''
  if (piece instanceof Markup) return piece.text
  if (typeof piece === 'number') return String(piece)
  if (typeof piece === 'string') return escaped(piece)
  return piece.map(written).join('')
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}

/** All that has a meaning in HTML, control characters but for tab and line breaks, marks of direction, half characters. */
const special =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is shown
  /[&<>"'`\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Surrogate}/gu

/** The text as HTML shows it. */
export function escaped(text: string): string {
  return text.replace(special, (character) => {
    const entity = entities[character]
    if (entity !== undefined) return entity
    return `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`
  })
}
