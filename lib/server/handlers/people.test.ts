import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { invitationState } from '@/lib/auth/invitations'
import { signIn } from '@/lib/auth/sign-in'
import type { InvitationLink, NewPerson, Person, PersonRow } from '@/lib/view/person-wire'
import type { Page } from '@/lib/view/wire'
import { ask, type Browser, goodPassword, TestConsole } from '../testing/console'
import { getMe } from './account'
import {
  acceptInvitation,
  endPersonsSessions,
  listPeople,
  patchPerson,
  postInvitation,
  postPerson,
} from './people'

let at: TestConsole
let ada: Browser
beforeAll(async () => {
  at = await TestConsole.open()
  ada = await at.person('ada', 'administrator')
})
afterAll(() => at.close())

const tokenIn = (link: string | undefined) => link?.split('/').at(-1) ?? ''
const change = (who: Browser, id: string, body: object) =>
  who.ask<PersonRow & { code?: string; detail?: string }>(patchPerson, 'PATCH', {
    params: { person: id },
    body,
  })
const accept = (token: string, password: string) =>
  ask<{ name?: string; code?: string; detail?: string }>(acceptInvitation, 'POST', {
    body: { token, password },
  })
const enter = (name: string, password: string) =>
  signIn(at.house.auth, { name, password, address: '192.0.2.9', userAgent: 'test' })

async function rowOf(name: string): Promise<PersonRow | undefined> {
  const { body } = await ada.ask<Page<PersonRow>>(listPeople, 'GET')
  return body.items.find((row) => row.name === name)
}

describe('people', () => {
  it('are for administrators alone', async () => {
    const bo = await at.person('bo', 'coordinator', 'author')
    const target = { params: { person: ada.id } }
    const asked = [
      bo.ask(listPeople, 'GET'),
      bo.ask(postPerson, 'POST', { body: { name: 'x', roles: ['administrator'] } }),
      bo.ask(patchPerson, 'PATCH', { ...target, body: { roles: ['viewer'] } }),
      bo.ask(patchPerson, 'PATCH', { params: { person: bo.id }, body: { roles: ['administrator'] } }),
      bo.ask(postInvitation, 'POST', target),
      bo.ask(endPersonsSessions, 'POST', target),
    ]
    for (const { status, body } of await Promise.all(asked)) {
      expect([status, body.code]).toEqual([403, 'role_missing'])
      expect(body.detail).toContain('This needs the role administrator; bo holds author, coordinator.')
    }
    const nobody = await ask(listPeople, 'GET')
    expect([nobody.status, nobody.body.code]).toEqual([401, 'not_signed_in'])
    const token = await ada.ask(listPeople, 'GET', { headers: { authorization: 'Bearer hp_x' } })
    expect([token.status, token.body.code]).toEqual([401, 'not_signed_in'])
    expect(token.body.detail).toContain('not for API tokens')
    const elsewhere = await ada.ask(postInvitation, 'POST', {
      ...target,
      headers: { 'sec-fetch-site': 'cross-site' },
    })
    expect(elsewhere.body.code).toBe('cross_site')
  })

  it('are invited by a link that is given once, works once and lets them choose a password', async () => {
    const made = await ada.ask<NewPerson>(postPerson, 'POST', {
      body: { name: 'cy', roles: ['operator:oncall', 'viewer'] },
    })
    expect(made.status).toBe(201)
    const link = made.body.invitation?.link ?? ''
    expect(link).toMatch(/^http:\/\/localhost:3998\/invitation\/[\w-]{43}$/)
    expect(await rowOf('cy')).toMatchObject({
      roles: ['operator:oncall', 'viewer'],
      hasPassword: false,
      sessions: 0,
      invitedUntil: made.body.invitation?.expiresAt,
    })
    expect(JSON.stringify(await rowOf('cy'))).not.toContain(tokenIn(link))

    await expect(enter('cy', '')).rejects.toMatchObject({ code: 'sign_in_failed' })
    const weak = await accept(tokenIn(link), 'short')
    expect([weak.status, weak.body.code]).toEqual([422, 'password_weak'])
    expect(await invitationState(at.house.auth, tokenIn(link))).toEqual({ state: 'open', name: 'cy' })
    expect((await accept(tokenIn(link), 'a password of my own')).body).toEqual({ name: 'cy' })
    expect((await enter('cy', 'a password of my own')).person.roles).toEqual(['operator:oncall', 'viewer'])

    const again = await accept(tokenIn(link), 'another password again')
    expect([again.status, again.body.code]).toEqual([410, 'link_used'])
    expect(again.body.detail).toContain('was used already, has run out, or was replaced')
    const row = await rowOf('cy')
    expect(row).toMatchObject({ hasPassword: true, sessions: 1 })
    expect(row?.invitedUntil).toBeUndefined()
  })

  it('choose a new password with a new link, which ends their sessions and replaces the one before', async () => {
    const di = await at.person('di', 'viewer')
    const params = { person: di.id }
    const first = await ada.ask<InvitationLink>(postInvitation, 'POST', { params })
    const second = await ada.ask<InvitationLink>(postInvitation, 'POST', { params })
    expect((await di.ask<Person>(getMe, 'GET')).body.name).toBe('di')
    expect((await accept(tokenIn(first.body.link), 'a password of my own')).body.code).toBe('link_used')
    expect((await accept(tokenIn(second.body.link), 'a password of my own')).status).toBe(200)
    expect((await di.ask(getMe, 'GET')).body.code).toBe('session_ended')
    await expect(enter('di', goodPassword)).rejects.toMatchObject({ code: 'sign_in_failed' })
  })

  it('have other roles with their next request', async () => {
    const ed = await at.person('ed', 'viewer')
    const changed = await change(ada, ed.id, { roles: ['operator', 'operator:oncall', 'operator'] })
    expect(changed.body.roles).toEqual(['operator', 'operator:oncall'])
    expect((await ed.ask<Person>(getMe, 'GET')).body.roles).toEqual(['operator', 'operator:oncall'])
    const wrong = await change(ada, ed.id, { roles: ['On Call'] })
    expect([wrong.status, wrong.body.code]).toEqual([400, 'bad_request'])
    expect(wrong.body.detail).toContain('"On Call" is no role')
    expect((await change(ada, ed.id, {})).body.detail).toContain('nothing is to be changed')
    expect((await change(ada, 'nobody', { roles: [] })).body.code).toBe('not_found')
    expect((await change(ada, 'nobody', { disabled: false })).body.code).toBe('not_found')
  })

  it('are shut out at once, with their link, and come back without either', async () => {
    const fay = await at.person('fay', 'viewer')
    const params = { person: fay.id }
    const { body } = await ada.ask<InvitationLink>(postInvitation, 'POST', { params })
    expect((await change(ada, fay.id, { disabled: true })).body.disabledAt).toBeGreaterThan(0)
    expect((await fay.ask(getMe, 'GET')).body.code).toBe('session_ended')
    expect((await accept(tokenIn(body.link), 'a password of my own')).body.code).toBe('link_used')
    const refused = await ada.ask(postInvitation, 'POST', { params })
    expect([refused.status, refused.body.code]).toEqual([409, 'account_disabled'])
    expect(refused.body.detail).toContain('fay is disabled')
    expect((await change(ada, fay.id, { disabled: false })).body.disabledAt).toBeUndefined()
    expect((await accept(tokenIn(body.link), 'a password of my own')).body.code).toBe('link_used')
    expect((await enter('fay', goodPassword)).person.name).toBe('fay')
  })

  it('are signed out everywhere, but for the browser that asks', async () => {
    const gil = await at.person('gil', 'viewer')
    await at.again(gil)
    expect((await rowOf('gil'))?.sessions).toBe(2)
    const ended = await ada.ask<{ ended: number }>(endPersonsSessions, 'POST', { params: { person: gil.id } })
    expect(ended.body).toEqual({ ended: 2 })
    const second = await at.again(ada)
    const own = await ada.ask<{ ended: number }>(endPersonsSessions, 'POST', { params: { person: ada.id } })
    expect(own.body).toEqual({ ended: 1 })
    expect((await second.ask(getMe, 'GET')).body.code).toBe('session_ended')
    expect((await ada.ask(getMe, 'GET')).status).toBe(200)
  })

  it('always have an administrator who can sign in', async () => {
    const invited = await ada.ask<NewPerson>(postPerson, 'POST', {
      body: { name: 'hal', roles: ['administrator'] },
    })
    // An invitation may never be used, so it does not count.
    for (const body of [{ roles: ['viewer'] }, { disabled: true }, { roles: ['viewer'], disabled: true }]) {
      const refused = await change(ada, ada.id, body)
      expect([refused.status, refused.body.code]).toEqual([409, 'last_administrator'])
      expect(refused.body.detail).toContain('make someone else administrator first')
    }
    expect((await ada.ask<Person>(getMe, 'GET')).body.roles).toEqual(['administrator'])

    await accept(tokenIn(invited.body.invitation?.link), 'a password of my own')
    expect((await change(ada, ada.id, { roles: ['viewer'] })).status).toBe(200)
    expect((await ada.ask(listPeople, 'GET')).body.code).toBe('role_missing')
    const hal = await at.again({ id: invited.body.id, name: 'hal' })
    expect((await change(hal, hal.id, { disabled: true })).body.code).toBe('last_administrator')
    expect((await change(hal, ada.id, { roles: ['administrator'] })).status).toBe(200)
  })

  it('keep their names', async () => {
    const taken = await ada.ask(postPerson, 'POST', { body: { name: ' ADA ', roles: ['viewer'] } })
    expect([taken.status, taken.body.code]).toEqual([409, 'name_taken'])
    const weak = await ada.ask(postPerson, 'POST', { body: { name: 'ivy', roles: [], password: 'x' } })
    expect([weak.status, weak.body.code]).toEqual([422, 'password_weak'])
    expect(await rowOf('ivy')).toBeUndefined()
  })
})
