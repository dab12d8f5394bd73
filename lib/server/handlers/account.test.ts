import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ApiTokenRow, NewApiToken, Person, SessionRow } from '@/lib/view/person-wire'
import type { Page } from '@/lib/view/wire'
import { ask, type Browser, goodPassword, TestConsole } from '../testing/console'
import { endOtherSessions, endSession, getMe, listSessions, patchPassword } from './account'
import { listRuns } from './runs'
import { deleteToken, listTokens, postToken } from './tokens'

let at: TestConsole
let ada: Browser
let bo: Browser
beforeAll(async () => {
  at = await TestConsole.open()
  ada = await at.person('ada', 'administrator')
  bo = await at.person('bo', 'operator')
})
afterAll(() => at.close())

const sessionsOf = async (who: Browser) => (await who.ask<Page<SessionRow>>(listSessions, 'GET')).body.items

describe('one’s own sessions', () => {
  it('are listed, ended one by one or all but this one, and nobody else’s', async () => {
    const laptop = await at.again(bo)
    const phone = await at.again(bo)
    const listed = await sessionsOf(bo)
    expect(listed).toHaveLength(3)
    expect(listed.filter((one) => one.current)).toHaveLength(1)
    const [own] = (await sessionsOf(laptop)).filter((one) => one.current)

    const foreign = await ada.ask(endSession, 'DELETE', { params: { session: own?.id ?? '' } })
    expect([foreign.status, foreign.body.code]).toEqual([404, 'not_found'])
    expect(foreign.body.detail).toContain('no such session of yours')
    expect((await laptop.ask(getMe, 'GET')).status).toBe(200)

    expect((await bo.ask(endSession, 'DELETE', { params: { session: own?.id ?? '' } })).status).toBe(204)
    expect((await laptop.ask(getMe, 'GET')).body.code).toBe('session_ended')
    expect((await bo.ask<{ ended: number }>(endOtherSessions, 'POST')).body).toEqual({ ended: 1 })
    expect((await phone.ask(getMe, 'GET')).body.code).toBe('session_ended')
    expect((await bo.ask<Person>(getMe, 'GET')).body).toMatchObject({ name: 'bo', roles: ['operator'] })
  })
})

describe('one’s own password', () => {
  it('is changed by who knows the present one, and ends the other sessions', async () => {
    const other = await at.again(bo)
    const put = (password: string, new_password: string) =>
      bo.ask(patchPassword, 'PATCH', { body: { password, new_password } })
    const wrong = await put('not the password', 'another good password')
    // 403, since 401 would send a browser to sign in again.
    expect([wrong.status, wrong.body.code]).toEqual([403, 'password_wrong'])
    expect(wrong.body.detail).toBe('The present password is not right; nothing was changed.')
    const weak = await put(goodPassword, 'bo')
    expect([weak.status, weak.body.code]).toEqual([422, 'password_weak'])
    expect((await put(goodPassword, 'another good password')).status).toBe(204)
    expect((await bo.ask(getMe, 'GET')).status).toBe(200)
    expect((await other.ask(getMe, 'GET')).body.code).toBe('session_ended')
  })
})

describe('one’s own API tokens', () => {
  it('are shown once, act within their scopes, and are refused once revoked', async () => {
    const made = await bo.ask<NewApiToken>(postToken, 'POST', {
      body: { name: 'ci', scopes: ['runs:read'], days: 30 },
    })
    expect(made.status).toBe(201)
    const { secret, token } = made.body
    const listed = await bo.ask<Page<ApiTokenRow>>(listTokens, 'GET')
    expect(listed.body.items).toEqual([token])
    expect(JSON.stringify(listed.body)).not.toContain(secret)
    expect(token.expiresAt - token.createdAt).toBe(30 * 86_400_000)

    const headers = { authorization: `Bearer ${secret}` }
    expect((await ask(listRuns, 'GET', { headers })).status).toBe(200)
    for (const answer of [
      await ask(listTokens, 'GET', { headers }),
      await ask(postToken, 'POST', { headers, body: { name: 'more', scopes: ['runs:write'] } }),
      await ask(listSessions, 'GET', { headers }),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([401, 'not_signed_in'])
      expect(answer.body.detail).toContain('not for API tokens')
    }

    const params = { token: token.id }
    const foreign = await ada.ask(deleteToken, 'DELETE', { params })
    expect([foreign.status, foreign.body.code]).toEqual([404, 'not_found'])
    expect((await bo.ask(deleteToken, 'DELETE', { params })).status).toBe(204)
    expect((await bo.ask(deleteToken, 'DELETE', { params })).status).toBe(204)
    const after = await ask(listRuns, 'GET', { headers })
    expect([after.status, after.body.code]).toEqual([401, 'token_invalid'])
    expect((await bo.ask<Page<ApiTokenRow>>(listTokens, 'GET')).body.items[0]?.revokedAt).toBeGreaterThan(0)
  })

  it('need a name, a scope and an end', async () => {
    const asked = (body: object) => ada.ask(postToken, 'POST', { body })
    expect((await asked({ name: 'a', scopes: [] })).body.code).toBe('bad_request')
    expect((await asked({ name: 'a', scopes: ['everything'] })).body.detail).toContain('/scopes/0')
    expect((await asked({ name: '*', scopes: ['runs:read'] })).body.detail).toContain("The token's name")
    expect((await asked({ name: 'a', scopes: ['runs:read'], days: 367 })).body.detail).toContain('/days')
  })
})
