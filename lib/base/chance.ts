import { randomBytes } from 'node:crypto'

/** Gives fresh random octets each time it is called. Pure rooms receive it as an argument. */
export type RandomBytes = (size: number) => Uint8Array

/** The machine's own source, fit for keys and nonces. */
export const systemRandom: RandomBytes = (size) => randomBytes(size)
