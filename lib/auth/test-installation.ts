import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { isProblem, type Problem } from '@/lib/base/problem'
import { openAgents } from '@/lib/store/agents'
import { openStore } from '@/lib/store/open'
import { openPeople } from '@/lib/store/people'
import type { Store } from '@/lib/store/store'
import { createPerson } from './accounts'
import type { AuthContext } from './auth-context'
import { sessionCookieName } from './sessions'
import { signIn } from './sign-in'

/** A clock that tests move. */
export interface TestClock {
  time: number
  now(): number
}

export interface TestInstallation extends AuthContext {
  clock: TestClock
  store: Store
  close(): Promise<void>
}

export const goodPassword = 'correct horse battery'

/** An empty installation in a folder of its own, with a real SQLite store and a clock at noon of 2026-11-21. */
export async function testInstallation(publicOrigin = 'http://localhost:3000'): Promise<TestInstallation> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdpoint-auth-'))
  const clock: TestClock = { time: Date.UTC(2026, 10, 21, 12), now: () => clock.time }
  const store = await openStore(folder, { clock })
  return {
    people: openPeople(store),
    agents: openAgents(store),
    clock,
    sessionSecret: 'a secret of thirty-two octets 123',
    publicOrigin,
    store,
    async close() {
      await store.close()
      fs.rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A person with `goodPassword`. */
export function person(at: TestInstallation, name: string, ...roles: string[]) {
  return createPerson(at, { name, password: goodPassword, roles })
}

/** Signs in from an address. */
export function enter(at: TestInstallation, name: string, password = goodPassword, address = '192.0.2.1') {
  return signIn(at, { name, password, address, userAgent: 'test' })
}

/** A request with this session's cookie, encrypted as next-auth does. */
export async function requestWith(at: TestInstallation, sessionId: string): Promise<Request> {
  const { encode } = await import('next-auth/jwt')
  const cookie = await encode({ token: { sid: sessionId }, secret: at.sessionSecret })
  return new Request('http://localhost:3000/', {
    headers: { cookie: `x=1; ${sessionCookieName(at)}=${cookie}` },
  })
}

/** The Problem that the work is refused with. */
export async function refusal(work: Promise<unknown>): Promise<Problem> {
  try {
    await work
  } catch (error) {
    if (isProblem(error)) return error
    throw error
  }
  throw new Error('Nothing was refused')
}
