/*
 * The console without its pages: an installation in a folder of its own, the handlers of its API, and browsers that hold
 * a person's session cookie.
 */
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { encode } from 'next-auth/jwt'
import { hashPassword } from '@/lib/auth/passwords'
import { sessionCookieName } from '@/lib/auth/sessions'
import { sha256 } from '@/lib/base/hash'
import { mintUuid } from '@/lib/base/ids'
import type { ProblemDetails } from '@/lib/view/wire'
import type { RouteContext } from '../http/route'
import type { Installation } from '../installation'
import { createLog } from '../log'
import { type InstallationOptions, openInstallation } from '../open-installation'

const origin = 'http://localhost:3998'
export const goodPassword = 'correct horse battery'

type Handler = (request: Request, context: RouteContext) => Promise<Response>

interface Asked {
  /** Path parameters. */
  params?: Record<string, string>
  /** JSON. */
  body?: unknown
  /** Behind the path, with its `?`. */
  query?: string
  headers?: Record<string, string>
}

export interface Answered<T> {
  status: number
  headers: Headers
  body: T
}

/** Asks a handler as a page of the console does, or as whoever the headers name. */
export async function ask<T = ProblemDetails>(
  handler: Handler,
  method: string,
  { params = {}, body, query = '', headers = {} }: Asked = {},
): Promise<Answered<T>> {
  const request = new Request(`${origin}/api/v1/x${query}`, {
    method,
    headers: { origin, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const response = await handler(request, { params: Promise.resolve(params) })
  const text = await response.text()
  const { status, headers: answered } = response
  return { status, headers: answered, body: (text === '' ? undefined : JSON.parse(text)) as T }
}

/** Someone who is signed in. */
export class Browser {
  constructor(
    readonly id: string,
    readonly name: string,
    readonly cookie: string,
  ) {}

  ask<T = ProblemDetails>(handler: Handler, method: string, asked: Asked = {}): Promise<Answered<T>> {
    return ask<T>(handler, method, { ...asked, headers: { cookie: this.cookie, ...asked.headers } })
  }
}

export class TestConsole {
  #passwordHash: Promise<string> | undefined

  private constructor(
    readonly house: Installation,
    readonly folder: string,
  ) {}

  /** Opens one; the handlers of this process belong to it from now on. */
  static async open(more: Partial<InstallationOptions> = {}): Promise<TestConsole> {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdpoint-console-'))
    const house = await openInstallation({ dataDir: folder, origin, log: createLog('silent'), ...more })
    globalThis.holdpointInstallation = Promise.resolve(house)
    return new TestConsole(house, folder)
  }

  async close(): Promise<void> {
    globalThis.holdpointInstallation = undefined
    await this.house.close()
    fs.rmSync(this.folder, { recursive: true, force: true })
  }

  /** A new person with `goodPassword`, signed in. */
  async person(name: string, ...roles: string[]): Promise<Browser> {
    const id = mintUuid()
    // Hashed once for all of them: a hash costs a third of a second.
    this.#passwordHash ??= hashPassword(goodPassword)
    const passwordHash = await this.#passwordHash
    await this.house.people.addPerson({ id, name, passwordHash, roles, createdAt: Date.now() })
    return this.again({ id, name })
  }

  /** One more session of a person. */
  async again({ id, name }: { id: string; name: string }): Promise<Browser> {
    const sid = randomBytes(32).toString('base64url')
    const now = Date.now()
    const session = { createdAt: now, expiresAt: now + 3_600_000, address: '192.0.2.1', agent: 'test' }
    await this.house.people.addSession({ hash: sha256(sid), personId: id, ...session })
    const { auth } = this.house
    const value = await encode({ token: { sid }, secret: auth.sessionSecret })
    return new Browser(id, name, `${sessionCookieName(auth)}=${value}`)
  }
}
