import type { Dependent } from './dependents'

/**
 * `POST /api/v1/runs/{run}/flag {node, visit?, reason}`: what a finished step gave is wrong, says whoever asks. It counts
 * as failed from then on; nothing is taken back by it.
 */
export interface FlagView {
  run: string
  node: string
  visit: number
  /** The steps that were made from it, as they were when it was said. */
  dependents: Dependent[]
  /** Id of the error token that says so. */
  token: string
}
