/*
 * What travels between the server and screens: plain data, no class, no Date. Times are ms since the epoch.
 * The API answers with the same shapes (lib/server), so a page and a program see the same thing.
 * Here is what every subject shares; the rest stands beside it, a file a subject (`run-wire.ts`, `approval-wire.ts`, …).
 */

/** RFC 9457 problem details, the body of every refusal. */
export interface ProblemDetails {
  type: string
  title: string
  status: number
  detail: string
  code: string
  [more: string]: unknown
}

export interface Page<T> {
  items: T[]
  /** Pass as `cursor` for the next page; absent on the last one. */
  next?: string
}

/** One event of `GET /api/v1/stream` (and `?run=`); the SSE id is `position`. */
export interface StreamEvent {
  position: number
  run: string
  seq: number
  /** The compact token, only on `?run=` streams. */
  token?: string
  prevHash?: string
  hash?: string
  /** The token's `exec_act`. */
  act: string
}

/** The `event: beat` of a stream, every 5 s and once when it opens: the position it is at. Beats have no SSE id. */
export interface StreamBeat {
  position: number
}
