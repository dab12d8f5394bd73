/*
 * Sign-in gets slower with every failure, for the account and for the address, whether or not the account exists. An
 * attempt is counted before the password is looked at and taken back when it was right, so that a hundred at once are a
 * hundred. The longest wait for an account is short: a stranger who hammers it must not keep its owner out for long.
 *
 *   failures of an account   1 … 5   6    7    8   …   12 and more
 *   wait before the next     none    1 s  2 s  4 s …   60 s
 */
import { sha256 } from '@/lib/base/hash'
import { Problem } from '@/lib/base/problem'
import type { PeopleStore } from '@/lib/store/people'
import type { AttemptRecord } from '@/lib/store/person-records'

interface Limit {
  /** Failures that cost nothing: people mistype. */
  free: number
  maxWaitMs: number
}

const limits = {
  account: { free: 5, maxWaitMs: 60_000 },
  // A whole office may share an address.
  address: { free: 30, maxWaitMs: 15 * 60_000 },
} as const satisfies Record<string, Limit>

/** Failures older than this count no more; longer than any wait. */
const forgetAfterMs = 60 * 60_000
/** Times a count is tried again when others change it meanwhile. */
const maxRaces = 8

export interface Attempt {
  /** The password was right. */
  succeeded(): Promise<void>
}

/**
 * Counts an attempt at `now` (ms). Throws Problem `too_many_attempts`, with `retryAfterS`, when it comes too early; it is
 * not counted then. `address` is left out when nobody knows it.
 */
export async function beginAttempt(
  people: PeopleStore,
  name: string,
  address: string | undefined,
  now: number,
): Promise<Attempt> {
  const account = accountSubject(name)
  const place = address === undefined ? undefined : `address:${sha256(address)}`
  await count(people, account, limits.account, now)
  if (place) await count(people, place, limits.address, now)
  return {
    async succeeded() {
      await people.clearAttempts(account)
      // Only its own attempt: an address does not win back its failures with one account that it owns.
      if (place) await takeBack(people, place)
    },
  }
}

/** Forgets the failures of an account: it has a new password. */
export async function clearAttempts(people: PeopleStore, name: string): Promise<void> {
  await people.clearAttempts(accountSubject(name))
}

function accountSubject(name: string): string {
  return `account:${sha256(name)}`
}

async function count(people: PeopleStore, subject: string, limit: Limit, now: number): Promise<void> {
  for (let race = 0; race < maxRaces; race++) {
    const seen = await people.attempts(subject)
    if (seen && seen.blockedUntil > now) throw tooMany(seen.blockedUntil - now)
    const failures = 1 + (seen && now - seen.updatedAt < forgetAfterMs ? seen.failures : 0)
    const next: AttemptRecord = { failures, blockedUntil: now + waitMs(failures, limit), updatedAt: now }
    if (await people.replaceAttempts(subject, seen, next)) return
  }
  throw tooMany(1_000)
}

async function takeBack(people: PeopleStore, subject: string): Promise<void> {
  const seen = await people.attempts(subject)
  if (!seen) return
  const next = { ...seen, failures: Math.max(0, seen.failures - 1), blockedUntil: 0 }
  await people.replaceAttempts(subject, seen, next)
}

/** How long after this failure the next attempt may come. */
export function waitMs(failures: number, { free, maxWaitMs }: Limit): number {
  if (failures <= free) return 0
  return Math.min(maxWaitMs, 1_000 * 2 ** Math.min(failures - free - 1, 30))
}

function tooMany(ms: number): Problem {
  const retryAfterS = Math.ceil(ms / 1_000)
  return new Problem('too_many_attempts', `Too many attempts to sign in; try again in ${retryAfterS} s.`, {
    retryAfterS,
  })
}
