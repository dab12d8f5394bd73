/** How many steps of this process wait for child runs: they hold a lease and do nothing, so they take nobody's place. */
export class ChildWaits {
  #count = 0

  get count(): number {
    return this.#count
  }

  /** Counts one more, until the returned function is called. */
  begin(): () => void {
    this.#count += 1
    let over = false
    return () => {
      if (!over) this.#count -= 1
      over = true
    }
  }
}
