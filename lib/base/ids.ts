import { createHash, randomUUID } from 'node:crypto'

/*
 * Ids wear their kind. A run's id is its `wid` in another coat, so that neither has to be looked up:
 *
 *   wid     7f3a0c1e-5b1d-4c1e-9d2a-0c1e5b1dc2e1        (the UUID that travels in tokens)
 *   run id  run_7f3a0c1e5b1d4c1e9d2a0c1e5b1dc2e1        (what people and URLs see)
 */
export type RunId = `run_${string}`
export type ApprovalId = `appr_${string}`
export type RollbackId = `rb_${string}`

/** Gives a fresh UUID each time it is called. Pure rooms receive it as an argument. */
export type Mint = () => string

/** Random UUIDs (version 4). */
export const mintUuid: Mint = () => randomUUID()

/** The run id of a `wid`. */
export function runIdOf(wid: string): RunId {
  return `run_${wid.replaceAll('-', '')}`
}

/** The `wid` of a run id. Throws a RangeError when it is not 32 hex digits after `run_`. */
export function widOf(runId: string): string {
  const match = /^run_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(runId)
  if (!match) throw new RangeError(`"${runId.slice(0, 60)}" is not a run id; expected run_ and 32 hex digits`)
  return match.slice(1).join('-')
}

/** An id of the given kind from a UUID: `prefixed('rb', uuid)` is `rb_…`. */
export function prefixed<P extends 'appr' | 'rb'>(prefix: P, uuid: string): `${P}_${string}` {
  return `${prefix}_${uuid.replaceAll('-', '')}`
}

/** The UUID (version 8) that a text always has: the same thing begun twice has the same id. */
export function uuidOfText(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  const variant = ((Number.parseInt(hex[16] as string, 16) & 3) | 8).toString(16)
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, variant + hex.slice(17, 20)]
  return [...parts, hex.slice(20, 32)].join('-')
}
