/*
 * How wide a text is on the label size, in px. Measured with the page's own font where there is a canvas, and counted
 * where there is none (on the server). Each text is measured once.
 */
const known = new Map<string, number>()
/** So that a run with many different labels does not keep them all. */
const mostKnown = 5_000
/** Geist Sans at 12 px: the mean of its letters. */
const meanPx = 6.3

let measure: CanvasRenderingContext2D | null | undefined

/** Width in px of a text in the sans face at 12 px. */
export function widthOfText(text: string): number {
  const found = known.get(text)
  if (found !== undefined) return found
  if (known.size >= mostKnown) known.clear()
  const width = Math.ceil(measured(text))
  known.set(text, width)
  return width
}

function measured(text: string): number {
  if (typeof document === 'undefined') return text.length * meanPx
  if (measure === undefined) {
    measure = document.createElement('canvas').getContext('2d')
    if (measure) measure.font = `12px ${getComputedStyle(document.body).fontFamily}`
  }
  return measure ? measure.measureText(text).width : text.length * meanPx
}
