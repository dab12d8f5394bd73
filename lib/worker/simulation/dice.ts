/** Chance that can be told again: the same seed draws the same numbers in the same order. */
export class Dice {
  private state: number

  constructor(seed: number) {
    this.state = seed >>> 0
    // Neighbouring seeds begin alike; a few throws part them.
    for (let i = 0; i < 8; i++) this.next()
  }

  /** A number in [0, 1). mulberry32: 32 bits of state, good enough to shuffle events and one multiplication cheap. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** True with the given probability. */
  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new RangeError('Nothing to pick from')
    return list[this.whole(0, list.length - 1)] as T
  }

  /** One of the keys, each as likely as its weight says. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][]
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [key, weight] of entries) {
      left -= weight
      if (left < 0) return key
    }
    return (entries.at(-1) as [K, number])[0]
  }

  /** A UUID of version 4. */
  uuid(): string {
    const hex = Array.from({ length: 4 }, () =>
      Math.floor(this.next() * 2 ** 32)
        .toString(16)
        .padStart(8, '0'),
    ).join('')
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
  }
}
