import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { firstRunLink } from '@/lib/auth/first-run'
import { personOf } from '@/lib/auth/sessions'
import { goodPassword, refusal, type TestInstallation, testInstallation } from '@/lib/auth/test-installation'
import { openAnswers } from '@/lib/store/answers'
import { addressHeader, stampAddresses } from './client-address'
import { firstRunHandler, type SignInEdge, signInHandler } from './sign-in'

const origin = 'http://localhost:3000'
const logged: unknown[] = []
let at: TestInstallation
let edge: SignInEdge
beforeAll(async () => {
  stampAddresses(0)
  at = await testInstallation(origin)
  edge = {
    auth: at,
    answers: openAnswers(at.store, at.clock),
    log: { warn: (data) => logged.push(data), error: (data) => logged.push(data) },
    personOf: async () => undefined,
    tokenOf: async () => undefined,
    publicOrigin: origin,
  }
})
afterAll(() => at.close())

/** A browser with its cookies, on a page of `page`. */
class Browser {
  readonly jar = new Map<string, string>()
  setCookies: string[] = []

  constructor(readonly page = origin) {}

  async ask(action: string, form?: Record<string, string>): Promise<Response> {
    const request = new Request(`${origin}/api/auth/${action}`, {
      headers: {
        host: 'localhost:3000',
        cookie: this.cookies(),
        [addressHeader]: '192.0.2.8',
        'user-agent': 'Browser/1',
        ...(form && { origin: this.page, 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    const response = await signInHandler(async () => edge)(request, {
      params: Promise.resolve({ nextauth: action.split('/') }),
    })
    this.setCookies = response.headers.getSetCookie()
    for (const cookie of this.setCookies) {
      const [pair = ''] = cookie.split(';', 1)
      const equals = pair.indexOf('=')
      this.jar.set(pair.slice(0, equals), pair.slice(equals + 1))
    }
    return response
  }

  cookies(): string {
    return [...this.jar].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  /** What next-auth's own page code sends. */
  async form(more: Record<string, string> = {}): Promise<Record<string, string>> {
    const { csrfToken } = (await (await this.ask('csrf')).json()) as { csrfToken: string }
    return { csrfToken, json: 'true', callbackUrl: `${origin}/`, ...more }
  }

  async signIn(name: string, password: string): Promise<{ status: number; url: URL }> {
    const response = await this.ask('callback/credentials', await this.form({ name, password }))
    const { url } = (await response.json()) as { url: string }
    return { status: response.status, url: new URL(url) }
  }

  person() {
    return personOf(at, new Request(origin, { headers: { cookie: this.cookies() } }))
  }
}

function firstRun(body: object, page = origin): Promise<Response> {
  const request = new Request(`${origin}/api/auth/first-run`, {
    method: 'POST',
    headers: { host: 'localhost:3000', origin: page, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return firstRunHandler(async () => edge)(request, { params: Promise.resolve({}) })
}

describe('from the one-time link to signing out', () => {
  it('makes the administrator once, and only from our own page', async () => {
    const token = (await firstRunLink(at))?.split('/').at(-1)
    const chosen = { token, name: 'ada', password: goodPassword }
    expect((await firstRun(chosen, 'https://evil.example')).status).toBe(403)
    const made = await firstRun(chosen)
    expect([made.status, await made.json()]).toEqual([201, { name: 'ada' }])
    const again = await firstRun(chosen)
    expect([again.status, ((await again.json()) as { code: string }).code]).toEqual([410, 'link_used'])
  })

  it('signs in with a cookie that no script reads, and out so that the cookie is worth nothing', async () => {
    const browser = new Browser()
    const { status, url } = await browser.signIn('ada', goodPassword)
    expect([status, url.href]).toEqual([200, `${origin}/`])
    const session = browser.setCookies.find((cookie) => cookie.startsWith('holdpoint.session='))
    expect(session).toMatch(/HttpOnly/)
    expect(session).toMatch(/SameSite=Lax/)
    expect(session).not.toMatch(/Secure/)
    const person = await browser.person()
    expect(person).toMatchObject({ name: 'ada', roles: ['administrator'] })
    const [kept] = await at.people.sessionsOf(person?.id ?? '', at.clock.time)
    expect(kept).toMatchObject({ address: '192.0.2.8', agent: 'Browser/1' })

    const before = browser.cookies()
    const out = await browser.ask('signout', await browser.form())
    expect(out.status).toBe(200)
    const stolen = personOf(at, new Request(origin, { headers: { cookie: before } }))
    expect((await refusal(stolen)).code).toBe('session_ended')
  })

  it('tells the page why not, with a code and nothing else', async () => {
    const browser = new Browser()
    const { status, url } = await browser.signIn('ada', 'wrong wrong wrong')
    expect([status, url.searchParams.get('error')]).toEqual([401, 'sign_in_failed'])
    expect(await browser.person()).toBeUndefined()
    for (let i = 0; i < 5; i++) await browser.signIn('eve', 'wrong wrong wrong')
    await browser.signIn('eve', 'wrong wrong wrong')
    expect((await browser.signIn('eve', 'x')).url.searchParams.get('error')).toBe('too_many_attempts:1')
  })

  it('leads nowhere but into the console', async () => {
    const browser = new Browser()
    const form = await browser.form({
      name: 'ada',
      password: goodPassword,
      callbackUrl: 'https://evil.example/',
    })
    const { url } = (await (await browser.ask('callback/credentials', form)).json()) as { url: string }
    expect(url).toBe(origin)
  })

  it('keeps cookies to https where browsers have it', async () => {
    const { sessionCookieName } = await import('@/lib/auth/sessions')
    const { nextAuthOptions } = await import('@/lib/auth/next-auth-options')
    const secure = { ...at, publicOrigin: 'https://holdpoint.example.com' }
    expect(sessionCookieName(secure)).toBe('__Host-holdpoint.session')
    const { cookies } = nextAuthOptions(secure, { userAgent: '', onFailure: () => undefined })
    expect(cookies?.sessionToken?.options).toMatchObject({ httpOnly: true, secure: true, path: '/' })
  })
})

describe('what is refused', () => {
  it('a sign-in from another site, or without the form’s token', async () => {
    const evil = new Browser('https://evil.example')
    const response = await evil.ask(
      'callback/credentials',
      await evil.form({ name: 'ada', password: goodPassword }),
    )
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([403, 'cross_site'])

    const browser = new Browser()
    const form = { ...(await browser.form({ name: 'ada', password: goodPassword })), csrfToken: 'forged' }
    await browser.ask('callback/credentials', form)
    expect(await browser.person()).toBeUndefined()
  })

  it('every other address of next-auth, and a GET that would sign in or out', async () => {
    const browser = new Browser()
    for (const action of [
      'signin',
      'session',
      'error',
      'callback/credentials',
      'signout',
      'callback/github',
      '',
    ]) {
      const response = await browser.ask(action)
      expect([action, response.status]).toEqual([action, 404])
    }
    expect((await browser.ask('signin/credentials', await browser.form())).status).toBe(404)
  })

  it('a form that is too long', async () => {
    const browser = new Browser()
    const response = await browser.ask('callback/credentials', { name: 'x'.repeat(20_000) })
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
      413,
      'body_too_large',
    ])
  })

  it('leaves no secret in the log', () => {
    expect(JSON.stringify(logged)).not.toContain(goodPassword)
    expect(logged).toEqual([])
  })
})
