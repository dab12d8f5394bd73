/*
 * Figures and times in a report. Nothing here depends on who reads it or where: times are UTC, so that the same state
 * gives the same bytes everywhere.
 */

/** `2026-11-21 09:14:31 UTC`. */
export function moment(at: number): string {
  return `${isoOf(at).slice(0, 19).replace('T', ' ')} UTC`
}

/** `09:14:31`. */
export function clock(at: number): string {
  return isoOf(at).slice(11, 19)
}

/** `09:14:31.042`. */
export function exactClock(at: number): string {
  return isoOf(at).slice(11, 23)
}

function isoOf(at: number): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? '????-??-??T??:??:??.???' : date.toISOString()
}

/** How long something took: `40 ms`, `3.8 s`, `2 m 14 s`, `1 h 52 m`, `3 d 4 h`. */
export function span(ms: number): string {
  const whole = Math.max(0, Math.round(ms))
  if (whole < 100) return `${whole} ms`
  if (whole < 60_000) return `${(Math.floor(whole / 100) / 10).toFixed(1)} s`
  const seconds = Math.floor(whole / 1000)
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} m ${seconds % 60} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 1_440) return `${Math.floor(minutes / 60)} h ${minutes % 60} m`
  return `${Math.floor(minutes / 1_440)} d ${Math.floor((minutes % 1_440) / 60)} h`
}

/** `1 step`, `12,000 steps`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${thousands(count)} ${count === 1 ? one : many}`
}

/** `12,000`, by hand: what a machine's language would write depends on the machine. */
export function thousands(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** An id or hash, shortened in the middle: `run_7f3a…c2e1`, `n4bQ…wCgg`. */
export function short(id: string): string {
  if (id.length <= 14) return id
  const prefix = /^[a-z]{2,5}_/.exec(id)?.[0] ?? ''
  return `${id.slice(0, prefix.length + 4)}…${id.slice(-4)}`
}

/** "a, b and c". */
export function listed(items: readonly string[]): string {
  if (items.length <= 1) return items.join('')
  return `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
}

/** A text, cut at so many characters with an ellipsis. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text
  // A character of two halves is not cut in the middle.
  return `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`
}
