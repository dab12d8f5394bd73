/**
 * An id or hash shortened in the middle, so that both ends can be compared: `run_7f3a…c2e1`, `n4bQ…wCgg`. The prefix that
 * names the kind is kept. What is 14 characters or shorter stays whole.
 */
export function shortId(id: string): string {
  if (id.length <= 14) return id
  const prefix = /^[a-z]{2,5}_/.exec(id)?.[0] ?? ''
  return `${id.slice(0, prefix.length + 4)}…${id.slice(-4)}`
}
