import { quoted } from './graph-problem'

/** The name that was most likely meant, or undefined when none is near: at most a third of its letters differ. */
export function nearestName(written: string, names: readonly string[]): string | undefined {
  if (written.length > 100) return undefined
  const lower = written.toLowerCase()
  const near = names
    .map((name) => ({ name, away: lettersApart(lower, name.toLowerCase()) }))
    .filter(({ name, away }) => away <= Math.max(1, Math.floor(name.length / 3)))
  return near.sort((a, b) => a.away - b.away)[0]?.name
}

/** What mends a name that is unknown: the one that was most likely meant, or `otherwise` when none is near. */
export function didYouMean(written: string, names: readonly string[], otherwise: string): string {
  const nearest = nearestName(written, names)
  return nearest ? `Did you mean ${quoted(nearest)}?` : otherwise
}

/** Levenshtein's distance: letters to put in, take out or change. */
function lettersApart(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) {
      const changed = (row[j] ?? 0) + (letter === b[j] ? 0 : 1)
      next.push(Math.min(changed, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
