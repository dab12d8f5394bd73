const encoder = new TextEncoder()
/** Takes one byte a character and is never escaped: nearly every text. */
const asItIs = /^[ !#-[\]-~]*$/

/**
 * The text, cut so that it takes at most `maxBytes` bytes inside a JSON document (quotes not counted) and says with an
 * ellipsis that it was cut. Control characters become spaces; a character is never split.
 */
export function clip(text: string, maxBytes: number): string {
  if (text.length <= maxBytes && asItIs.test(text)) return text
  const calm = text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
    .replace(/\p{Surrogate}/gu, '\ufffd')
  if (bytesInJson(calm) <= maxBytes) return calm
  let used = 3
  let kept = ''
  for (const character of calm) {
    used += bytesInJson(character)
    if (used > maxBytes) break
    kept += character
  }
  return `${kept.trimEnd()}…`
}

function bytesInJson(text: string): number {
  return encoder.encode(JSON.stringify(text)).length - 2
}
