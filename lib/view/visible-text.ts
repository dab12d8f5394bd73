/*
 * Text that somebody else wrote, made safe to read: characters that have no shape of their own, or that turn the text
 * around them about (so that what is read is not what is there), are written out. Right-to-left letters are left alone.
 */
const hidden = /(?![\t\n])[\p{Cc}\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu

/** The text with what cannot be seen made visible: `␍` for a carriage return, `⟨U+202E⟩` for what turns text about. */
export function visibleText(text: string): string {
  return text.replace(hidden, (char) => {
    const code = char.charCodeAt(0)
    if (code < 0x20) return String.fromCharCode(0x2400 + code)
    return code === 0x7f ? '␡' : `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
  })
}
