/**
 * The ledger walked forward. Tokens name their parents; what follows from a token is only known by turning `par`
 * around (NOTES 3.2). Kept beside the ledger: one `add` a token, in any order, never changed after.
 *
 * Tokens are numbered as they are met, and the children of each hang on a list through two arrays of numbers: a walk
 * over 100,000 tokens then touches no string and makes no object.
 *
 *   firstEdge[token] ─▶ edge ─▶ nextEdge[edge] ─▶ … ─▶ NONE        child[edge] = the token it leads to
 */
export class ReverseIndex {
  readonly #numbers = new Map<string, number>()
  readonly #ids: string[] = []
  readonly #agents: (string | undefined)[] = []
  readonly #firstEdge: number[] = []
  readonly #nextEdge: number[] = []
  readonly #child: number[] = []

  /** How many tokens it has met, as tokens or as parents. */
  get size(): number {
    return this.#ids.length
  }

  /** Takes a token in: its id, its parents, and the agent that acted in it, when one did. */
  add(jti: string, par: readonly string[], agent?: string): void {
    const child = this.#numberOf(jti)
    if (agent !== undefined) this.#agents[child] = agent
    for (const parent of par) {
      const from = this.#numberOf(parent)
      this.#child.push(child)
      this.#nextEdge.push(this.#firstEdge[from] as number)
      this.#firstEdge[from] = this.#child.length - 1
    }
  }

  /**
   * All that follows from a token: the tokens descending from it (itself left out) and the agents that acted in it or
   * in them. Empty for a token it has not met. Linear in what is reached.
   */
  blastRadius(jti: string): { tokens: string[]; agents: string[] } {
    const start = this.#numbers.get(jti)
    if (start === undefined) return { tokens: [], agents: [] }
    const reached = new Uint8Array(this.#ids.length)
    const queue = [start]
    reached[start] = 1
    for (let at = 0; at < queue.length; at++) {
      let edge = this.#firstEdge[queue[at] as number] as number
      while (edge !== NONE) {
        const child = this.#child[edge] as number
        if (reached[child] === 0) {
          reached[child] = 1
          queue.push(child)
        }
        edge = this.#nextEdge[edge] as number
      }
    }
    const agents = new Set<string>()
    for (const token of queue) {
      const agent = this.#agents[token]
      if (agent !== undefined) agents.add(agent)
    }
    return { tokens: queue.slice(1).map((token) => this.#ids[token] as string), agents: [...agents] }
  }

  #numberOf(jti: string): number {
    const known = this.#numbers.get(jti)
    if (known !== undefined) return known
    const number = this.#ids.length
    this.#numbers.set(jti, number)
    this.#ids.push(jti)
    this.#agents.push(undefined)
    this.#firstEdge.push(NONE)
    return number
  }
}

const NONE = -1
