/** What a step ran, as it is read: a line for the command, and each text of several lines as its lines. */

/** A part in quotation marks, to its end or to where the sentence was cut; or a part without any. */
const parts = /"((?:[^"\\]|\\.)*)(?:"|$)|\S+/g

const escapes: Record<string, string> = { n: '\n', t: '\t', r: '', '"': '"', '\\': '\\' }

/**
 * The lines of the command in "Run /bin/sh -c \"…\"", a sentence in which line ends are escaped; undefined of every other
 * sentence. Escapes of characters that cannot be seen stay as they are.
 */
export function commandLines(sentence: string): string[] | undefined {
  const command = /^Run (["/].*)$/.exec(sentence.trim())?.[1]
  if (command === undefined) return undefined
  const line: string[] = []
  const texts: string[] = []
  for (const [part, quoted] of command.matchAll(parts)) {
    const text = quoted?.replace(/\\([ntr"\\])/g, (_, of: string) => escapes[of] ?? '')
    if (!text?.includes('\n')) {
      line.push(part)
      continue
    }
    // "content=" names the text below it.
    const name = /^[\w.-]+=/.exec(text)?.[0] ?? ''
    if (name !== '') texts.push(name)
    texts.push(...text.slice(name.length).replace(/\n+$/, '').split('\n'))
  }
  return [line.join(' '), ...texts]
}
