/*
 * Passwords, hashed with scrypt (RFC 7914): a guess costs 128 MiB and about a third of a second, so that a stolen
 * database is worth little. The parameters are stored with each hash and can be raised; old hashes go on verifying.
 */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { Problem } from '@/lib/base/problem'
import { Turns } from './turns'

/** OWASP's first choice. N is a cost in memory: 128 · N · r bytes. */
const cost = { N: 2 ** 17, r: 8, p: 1 }
const saltBytes = 16
const hashBytes = 32
/** A hash with more than this was not written by us. */
const maxCost = { N: 2 ** 20, r: 16, p: 4 }

export const minPasswordLength = 12
/** Nobody types more, and each byte of it is hashed. */
const maxPasswordLength = 1_000

/** Each holds 128 MiB while it runs: two at a time, and a short line, so that strangers cannot fill the memory. */
const turns = new Turns(2, 20)

/** Throws Problem `password_weak` with the one thing to mend. */
export function checkPassword(password: string, name: string): void {
  const length = [...password].length
  if (length < minPasswordLength) {
    throw weak(`The password has ${length} characters; use at least ${minPasswordLength}.`)
  }
  if (length > maxPasswordLength)
    throw weak(`The password is longer than ${maxPasswordLength} characters; use fewer.`)
  if (new Set(password).size < 4)
    throw weak('The password repeats the same few characters; use more different ones.')
  if (password.toLowerCase() === name.toLowerCase())
    throw weak('The password is the account name; use something else.')
}

function weak(sentence: string): Problem {
  return new Problem('password_weak', sentence)
}

/** `scrypt$131072$8$1$salt$hash`, salt and hash in base64url. Throws Problem `too_many_attempts` when the line is full. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes)
  const hash = await derive(password, salt, cost, hashBytes)
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), hash.toString('base64url')].join('$')
}

/** A hash of no password: what is checked when there is no account, so that this takes as long. */
const nobody = ['scrypt', cost.N, cost.r, cost.p, 'A'.repeat(22), 'A'.repeat(43)].join('$')

/**
 * True when the password is the one of the hash. Without a hash (no such account) it takes as long and is false. Throws
 * Problem `too_many_attempts` when the line is full.
 */
export async function verifyPassword(password: string, stored: string | undefined): Promise<boolean> {
  const { params, salt, hash } = parse(stored ?? nobody)
  // A password nobody could have set is still worth the same time, not more.
  const derived = await derive(password.slice(0, maxPasswordLength + 1), salt, params, hash.length)
  return timingSafeEqual(derived, hash) && stored !== undefined
}

function parse(stored: string) {
  const [scheme, N, r, p, salt, hash] = stored.split('$')
  const params = { N: Number(N), r: Number(r), p: Number(p) }
  const known = scheme === 'scrypt' && params.N <= maxCost.N && params.r <= maxCost.r && params.p <= maxCost.p
  if (!known || !salt || !hash) throw new Error('A stored password hash is not one of ours')
  return { params, salt: Buffer.from(salt, 'base64url'), hash: Buffer.from(hash, 'base64url') }
}

function derive(password: string, salt: Buffer, { N, r, p }: typeof cost, bytes: number): Promise<Buffer> {
  const options = { N, r, p, maxmem: 128 * N * r + 128 * r * p + 1_048_576 }
  // Keyboards compose the same letters differently; NFKC makes them one.
  const text = password.normalize('NFKC')
  return turns.take(
    () =>
      new Promise((resolve, reject) => {
        scrypt(text, salt, bytes, options, (error, key) => (error ? reject(error) : resolve(key)))
      }),
  )
}
