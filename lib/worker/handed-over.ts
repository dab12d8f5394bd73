/**
 * A step waits for something that goes on without it, and this worker stops: nothing is recorded, and the next worker
 * takes the step up where it is, as after a crash.
 */
export class HandedOver extends Error {
  override readonly name = 'HandedOver'

  constructor(node: string) {
    super(`${node} waits on; another worker takes it up`)
  }
}
