/**
 * How much work a comparison may still do. A unit is about one comparison of two things; nothing here reads a clock, so
 * that the same two values give the same diff on every machine.
 */
export class Work {
  #left: number

  constructor(units: number) {
    this.#left = units
  }

  get left(): number {
    return this.#left
  }

  /** Takes so many units. False, and nothing is taken, when there are not as many. */
  take(units: number): boolean {
    if (units > this.#left) return false
    this.#left -= units
    return true
  }
}
