/* What travels between the server and screens about signals. Times are ms since the epoch. */

/** `GET /api/v1/runs/{run}/signals`: who was told of the run's errors, and who told of errors, oldest first. */
export interface SignalList {
  /** What went out, one for each error and agent (AERR section 5). */
  out: SignalRow[]
  /** What came in. */
  in: SignalHeard[]
}

export interface SignalRow {
  /** The error's token in the run's ledger. */
  error: string
  /** SPIFFE id of who is told. */
  agent: string
  /** `waiting`: not yet, or to be sent again; `given_up`: refused, or no answer after the last try. */
  state: 'waiting' | 'told' | 'given_up'
  /** When the error was recorded. */
  at: number
  /** Times it was sent. */
  attempts: number
  /** When it is sent (again). */
  nextAt?: number
  /** What the agent answered last, one sentence; empty before the first answer. */
  answer: string
}

export interface SignalHeard {
  /** The token it became. */
  token: string
  /** As the agent named it. */
  error: string
  agent: string
  at: number
  severity: 'info' | 'warning' | 'error' | 'critical'
  errorType: string
  /** The checkpoint it names, and that one's step. */
  checkpoint: string
  node: string
  description: string
}
