/*
 * Time in words. Every function takes what it needs: no clock is read here. Times are ms since the epoch, spans are ms.
 */
const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

const two = (n: number) => String(n).padStart(2, '0')

/** The moment in full, in the reader's zone: `2026-11-21 09:14:31`. */
export function absoluteTime(at: number): string {
  const date = new Date(at)
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clockTime(at)}`
}

/** The moment where the reader's zone is not known yet: `2026-11-21 08:14:31 UTC`. */
export function utcTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** The time of day in the reader's zone: `09:14:31`. */
export function clockTime(at: number): string {
  const date = new Date(at)
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

/** The time of day, with the date in front when it is not the day of `now`. */
export function momentOf(at: number, now: number): string {
  return new Date(at).toDateString() === new Date(now).toDateString() ? clockTime(at) : absoluteTime(at)
}

/** How long something took: `40 ms`, `3.8 s`, `2 m 14 s`, `1 h 52 m`, `3 d 4 h`. */
export function duration(ms: number): string {
  if (ms < 100) return `${Math.round(ms)} ms`
  if (ms < minute) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`
  if (ms < hour) return `${Math.floor(ms / minute)} m ${Math.floor((ms % minute) / second)} s`
  if (ms < day) return `${Math.floor(ms / hour)} h ${Math.floor((ms % hour) / minute)} m`
  return `${Math.floor(ms / day)} d ${Math.floor((ms % day) / hour)} h`
}

/** How long ago: `just now`, `12 s ago`, `6 min ago`, `3 h ago`, `2 d ago`, then the date. A clock that is ahead is "just now". */
export function ago(at: number, now: number): string {
  const span = now - at
  if (span < 2 * second) return 'just now'
  if (span < minute) return `${Math.floor(span / second)} s ago`
  if (span < hour) return `${Math.floor(span / minute)} min ago`
  if (span < day) return `${Math.floor(span / hour)} h ago`
  if (span < 14 * day) return `${Math.floor(span / day)} d ago`
  return absoluteTime(at).slice(0, 10)
}

/** Time left, to the second: `0:48`, `30:29`, `1:52:00`, `3 d 4 h`; `0:00` when it has run out. */
export function countdown(ms: number): string {
  const left = Math.max(0, Math.ceil(ms / second))
  if (left >= 2 * 86_400) return duration(left * second)
  const hours = Math.floor(left / 3600)
  const minutes = Math.floor((left % 3600) / 60)
  return hours > 0 ? `${hours}:${two(minutes)}:${two(left % 60)}` : `${minutes}:${two(left % 60)}`
}

/** The age of what is shown: `0.4 s`, `18 s`, `2 m 3 s`. */
export function age(ms: number): string {
  if (ms < 10 * second) return `${(Math.max(0, ms) / second).toFixed(1)} s`
  if (ms < minute) return `${Math.floor(ms / second)} s`
  return duration(ms)
}

/** The quantity with its word: `1 step`, `3 steps`. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString('en')} ${n === 1 ? one : many}`
}
