/* What the screens are told of bundles: the one to be exported, and the one that is open. */

/**
 * `GET /api/v1/runs/{run}/export/contents?forks=&max_value_bytes=`: what `GET …/export` with the same query would give,
 * without its bytes.
 */
export interface ExportContents {
  run: string
  /** The state it shows. */
  at: number
  /** Bytes of the file. */
  size: number
  tokens: number
  /** The run and those below it, and those it was forked from when they are asked for. */
  runs: number
  workflows: number
  decisions: number
  values: { count: number; bytes: number }
  /** What tokens name and that does not go in. */
  leftOut: {
    sealed: number
    tooLarge: { count: number; bytes: number }
    notStored: number
  }
  /** The run it was forked from; `included` when its ledger goes in. */
  forkedFrom?: { run: string; seq?: number; included: boolean }
}

/** The bundle that a console shows instead of runs of its own (`holdpoint open`). */
export interface OpenedBundle {
  /** Its file's name. */
  file: string
  run: string
  runs: number
  tokens: number
  /** The state it shows: the time of its newest token, ms since the epoch. */
  at: number
  /** False when it was opened although it does not verify; `fault` says why. */
  holds: boolean
  fault?: string
  /** Checked against keys that its reader gave; else against its own. */
  keysGiven: boolean
}
