/** The time, in milliseconds since the epoch. Pure rooms never ask for it: it arrives as an argument. */
export interface Clock {
  now(): number
}

/** The machine's own clock. */
export const systemClock: Clock = { now: () => Date.now() }
