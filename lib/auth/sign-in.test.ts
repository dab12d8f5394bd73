import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isProblem } from '@/lib/base/problem'
import { changeOwnPassword, changePerson, endSessions } from './accounts'
import { beginAttempt, waitMs } from './attempts'
import { invite, useInvitation } from './invitations'
import { checkPassword, hashPassword, verifyPassword } from './passwords'
import { personOf } from './sessions'
import { safeNext, signInWords } from './sign-in-words'
import {
  enter,
  goodPassword,
  person,
  refusal,
  requestWith,
  type TestInstallation,
  testInstallation,
} from './test-installation'

let at: TestInstallation
beforeAll(async () => {
  at = await testInstallation()
  await person(at, 'root', 'administrator')
})
afterAll(() => at.close())

describe('passwords', () => {
  it('are kept as scrypt hashes with their parameters, and never twice the same', async () => {
    const [one, two] = [await hashPassword(goodPassword), await hashPassword(goodPassword)]
    expect(one).toMatch(/^scrypt\$131072\$8\$1\$[\w-]{22}\$[\w-]{43}$/)
    expect(one).not.toBe(two)
    expect(await verifyPassword(goodPassword, one)).toBe(true)
    expect(await verifyPassword(`${goodPassword} `, one)).toBe(false)
    expect(await verifyPassword(goodPassword, undefined)).toBe(false)
  })

  it('verify under the parameters they were made with', async () => {
    const { scryptSync } = await import('node:crypto')
    const salt = Buffer.alloc(16, 7)
    const hash = scryptSync(goodPassword, salt, 32, { N: 1024, r: 8, p: 2 })
    const stored = `scrypt$1024$8$2$${salt.toString('base64url')}$${hash.toString('base64url')}`
    expect(await verifyPassword(goodPassword, stored)).toBe(true)
    expect(await verifyPassword('wrong', stored)).toBe(false)
  })

  it('are the same however a keyboard composes them', async () => {
    expect(
      await verifyPassword(
        'e\u0301t\u00e9 \u00e0 la plage',
        await hashPassword('\u00e9te\u0301 a\u0300 la plage'),
      ),
    ).toBe(true)
  })

  it('are refused when they are weak, with what to mend', () => {
    const words = (password: string) => {
      try {
        checkPassword(password, 'ada.lovelace@x')
      } catch (error) {
        if (isProblem(error, 'password_weak')) return error.message
      }
      return ''
    }
    expect(words('eleven char')).toContain('has 11 characters; use at least 12')
    expect(words('abababababab')).toContain('repeats the same few characters')
    expect(words('Ada.Lovelace@x')).toContain('is the account name')
    expect(words('x1y2'.repeat(300))).toContain('longer than 1000')
    expect(words('twelve chars')).toBe('')
  })
})

describe('signing in', () => {
  it('gives a session that the cookie stands for', async () => {
    await person(at, 'Ada', 'operator:oncall')
    const { sessionId } = await enter(at, ' ADA ')
    const principal = await personOf(at, await requestWith(at, sessionId))
    expect(principal).toMatchObject({ kind: 'person', name: 'ada', roles: ['operator:oncall'] })
    expect(principal?.session).not.toContain(sessionId)
    expect(await personOf(at, new Request('http://localhost/'))).toBeUndefined()
  })

  it('says the same for a wrong password, a wrong name and a disabled account', async () => {
    const bo = await person(at, 'bo', 'viewer')
    await changePerson(at, bo.id, { disabled: true })
    const refusals = [
      await refusal(enter(at, 'ada', 'wrong wrong wrong')),
      await refusal(enter(at, 'nobody')),
      await refusal(enter(at, 'bo')),
    ]
    expect(new Set(refusals.map((r) => r.message)).size).toBe(1)
    expect(refusals.map((r) => r.code)).toEqual(['sign_in_failed', 'sign_in_failed', 'sign_in_failed'])
    expect(refusals[0]?.message).toContain('do not go together')
  })

  it('does as much work for a name that does not exist', async () => {
    const took = async (work: Promise<unknown>) => {
      const from = process.cpuUsage()
      await refusal(work)
      const { user, system } = process.cpuUsage(from)
      return user + system
    }
    const known = await took(enter(at, 'root', 'wrong wrong wrong'))
    const unknown = await took(enter(at, 'no-such-name', 'wrong wrong wrong'))
    expect(unknown / known).toBeGreaterThan(0.4)
    expect(unknown / known).toBeLessThan(2.5)
  })
})

describe('failing to sign in', () => {
  it('gets slower after five failures of an account, and forgets them with the right password', async () => {
    await person(at, 'cy', 'viewer')
    for (let i = 0; i < 6; i++)
      expect((await refusal(enter(at, 'cy', 'not the password'))).code).toBe('sign_in_failed')
    const slow = await refusal(enter(at, 'cy'))
    expect(slow.code).toBe('too_many_attempts')
    expect(slow.message).toBe('Too many attempts to sign in; try again in 1 s.')
    expect(slow.data.retryAfterS).toBe(1)
    at.clock.time += 1_000
    expect((await enter(at, 'cy')).person.name).toBe('cy')
    expect((await refusal(enter(at, 'cy', 'not the password'))).code).toBe('sign_in_failed')
    expect((await enter(at, 'cy')).person.name).toBe('cy')
  })

  it('counts attempts that come at once, one by one', async () => {
    const many = await Promise.allSettled(
      Array.from({ length: 20 }, () => beginAttempt(at.people, 'ghost', undefined, at.clock.time)),
    )
    expect(many.filter((result) => result.status === 'fulfilled')).toHaveLength(6)
    for (const result of many) {
      if (result.status === 'rejected') expect(isProblem(result.reason, 'too_many_attempts')).toBe(true)
    }
  })

  it('gets slower for an address that tries many names, and one right password does not make up for them', async () => {
    const from = (name: string) => beginAttempt(at.people, name, '198.51.100.9', at.clock.time)
    for (let i = 0; i < 30; i++) await from(`name${i}`)
    await (await from('root')).succeeded()
    await from('name30')
    const slow = await refusal(from('root'))
    expect([slow.code, slow.data.retryAfterS]).toEqual(['too_many_attempts', 1])
    await beginAttempt(at.people, 'root', '198.51.100.10', at.clock.time)
  })

  it('waits twice as long each time, up to a bound, and starts anew after an hour', async () => {
    const limit = { free: 5, maxWaitMs: 60_000 }
    expect([5, 6, 7, 8, 11, 12, 1_000].map((n) => waitMs(n, limit))).toEqual([
      0, 1_000, 2_000, 4_000, 32_000, 60_000, 60_000,
    ])
    const attempt = () => beginAttempt(at.people, 'dee', undefined, at.clock.time)
    for (let i = 0; i < 6; i++) await attempt()
    expect((await refusal(attempt())).code).toBe('too_many_attempts')
    at.clock.time += 3_600_000
    for (let i = 0; i < 5; i++) await attempt()
  })
})

describe('a session', () => {
  async function entered(name: string, ...roles: string[]) {
    const who = await person(at, name, ...roles)
    const request = await requestWith(at, (await enter(at, name, goodPassword, `session-${name}`)).sessionId)
    return { who, request }
  }

  it('ends at once when it is ended, when the account is disabled, and after a week', async () => {
    const eve = await entered('eve', 'viewer')
    expect(await endSessions(at, eve.who.id)).toBe(1)
    const ended = await refusal(personOf(at, eve.request))
    expect([ended.code, ended.message]).toEqual(['session_ended', 'This session was ended; sign in again.'])

    const fay = await entered('fay', 'viewer')
    await changePerson(at, fay.who.id, { disabled: true })
    expect((await refusal(personOf(at, fay.request))).code).toBe('session_ended')
    await changePerson(at, fay.who.id, { disabled: false })
    expect((await refusal(personOf(at, fay.request))).message).toContain('was ended')

    const gil = await entered('gil', 'viewer')
    at.clock.time += 7 * 86_400_000
    expect((await refusal(personOf(at, gil.request))).message).toBe(
      'This session has run out; sign in again.',
    )
  })

  it('has new roles with the next request', async () => {
    const { who, request } = await entered('hal', 'viewer')
    await changePerson(at, who.id, { roles: ['operator', 'viewer'] })
    expect((await personOf(at, request))?.roles).toEqual(['operator', 'viewer'])
  })

  it('survives a change of one’s own password, and no other does', async () => {
    const { request } = await entered('ivy', 'viewer')
    const other = await requestWith(at, (await enter(at, 'ivy', goodPassword, 'elsewhere')).sessionId)
    const ivy = await personOf(at, request)
    if (!ivy) throw new Error('Ivy is not signed in')
    const wrong = await refusal(
      changeOwnPassword(at, ivy, { password: 'not mine at all', newPassword: 'another good one' }),
    )
    expect([wrong.code, wrong.message]).toEqual([
      'password_wrong',
      'The present password is not right; nothing was changed.',
    ])
    await changeOwnPassword(at, ivy, { password: goodPassword, newPassword: 'another good one' })
    expect(await personOf(at, request)).toMatchObject({ name: 'ivy' })
    expect((await refusal(personOf(at, other))).code).toBe('session_ended')
    expect((await refusal(enter(at, 'ivy'))).code).toBe('sign_in_failed')
    const link = (await invite(at, ivy.id)).link
    await useInvitation(at, link.split('/').at(-1) ?? '', { password: 'chosen with a new link' })
    expect((await refusal(personOf(at, request))).code).toBe('session_ended')
  })

  it('is not made of a cookie that is cut, foreign or under another secret', async () => {
    const { request } = await entered('jo', 'viewer')
    const cookie = request.headers.get('cookie') ?? ''
    const cut = new Request(request.url, { headers: { cookie: cookie.slice(0, -2) } })
    expect((await refusal(personOf(at, cut))).code).toBe('session_ended')
    expect((await refusal(personOf({ ...at, sessionSecret: 'another' }, request))).message).toContain(
      'is not known here',
    )
    expect(await personOf({ ...at, publicOrigin: 'https://h.example' }, request)).toBeUndefined()
  })
})

describe('accounts', () => {
  it('keep their name, and there is always an administrator', async () => {
    const root = (await at.people.people()).find((p) => p.name === 'root')
    if (!root) throw new Error('No root')
    const taken = await refusal(person(at, 'ROOT', 'viewer'))
    expect([taken.code, taken.message]).toEqual(['name_taken', 'The name "root" is taken; choose another.'])
    for (const work of [
      changePerson(at, root.id, { roles: ['viewer'] }),
      changePerson(at, root.id, { disabled: true }),
    ]) {
      const problem = await refusal(work)
      expect(problem.code).toBe('last_administrator')
      expect(problem.message).toContain('make someone else administrator first')
    }
    expect((await at.people.person(root.id))?.roles).toEqual(['administrator'])
    expect((await refusal(changePerson(at, 'nobody', { roles: ['viewer'] }))).code).toBe('not_found')
    expect((await refusal(changePerson(at, root.id, { roles: ['Administrator!'] }))).message).toContain(
      'is no role',
    )
    expect((await refusal(person(at, 'a+b', 'viewer'))).message).toContain('letters a to z')
  })
})

describe('what the sign-in page is told', () => {
  it('is a sentence for each code, and goes nowhere but within the console', () => {
    expect(signInWords('too_many_attempts:30')).toBe('Too many attempts to sign in. Try again in 30 s.')
    expect(signInWords('sign_in_failed')).toContain('do not go together')
    expect(signInWords('<script>')).toContain('could not sign you in')
    expect(safeNext('/runs?status=failed')).toBe('/runs?status=failed')
    for (const bad of [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example',
      'javascript:x',
      '/a b',
      '',
      null,
      '/sign-in?next=/',
    ]) {
      expect(safeNext(bad)).toBe('/')
    }
  })
})
