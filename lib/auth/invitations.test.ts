import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPerson } from './accounts'
import { invitationHours, invitationState, invite, useInvitation } from './invitations'
import {
  enter,
  goodPassword,
  person,
  refusal,
  type TestInstallation,
  testInstallation,
} from './test-installation'

let at: TestInstallation
beforeAll(async () => {
  at = await testInstallation()
  await person(at, 'root', 'administrator')
})
afterAll(() => at.close())

const tokenIn = (link: string) => link.split('/').at(-1) ?? ''
const invited = (name: string) => createPerson(at, { name, roles: ['viewer'] })

describe('an invitation', () => {
  it('runs out after three days, and what is not one tells nothing', async () => {
    const bo = await invited('bo')
    const { link, expiresAt } = await invite(at, bo.id)
    expect(expiresAt - at.clock.time).toBe(72 * 3_600_000)
    expect(await invitationState(at, tokenIn(link))).toEqual({ state: 'open', name: 'bo' })
    at.clock.time += invitationHours * 3_600_000
    expect((await invitationState(at, tokenIn(link))).state).toBe('expired')
    const late = await refusal(useInvitation(at, tokenIn(link), { password: goodPassword }))
    expect([late.code, late.message]).toEqual(['link_used', expect.stringContaining('ask an administrator')])
    expect(await invitationState(at, 'guessed')).toEqual({ state: 'unknown' })
    expect((await refusal(invite(at, 'nobody'))).code).toBe('not_found')
  })

  it('used twice at once sets one password', async () => {
    const token = tokenIn((await invite(at, (await invited('cy')).id)).link)
    const passwords = ['the first of two', 'the second of two']
    const both = await Promise.allSettled(passwords.map((password) => useInvitation(at, token, { password })))
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const won = passwords[both.findIndex(({ status }) => status === 'fulfilled')] ?? ''
    expect((await enter(at, 'cy', won)).person.name).toBe('cy')
  })

  it('lets in at once who has tried too many passwords', async () => {
    const di = await person(at, 'di', 'viewer')
    for (let i = 0; i < 6; i++) await refusal(enter(at, 'di', 'not the password', `192.0.2.${i}`))
    expect((await refusal(enter(at, 'di', goodPassword))).code).toBe('too_many_attempts')
    await useInvitation(at, tokenIn((await invite(at, di.id)).link), { password: 'chosen with the link' })
    expect((await enter(at, 'di', 'chosen with the link')).person.name).toBe('di')
  })

  it('does not stand for an administrator while no administrator can sign in', async () => {
    const house = await testInstallation()
    await createPerson(house, { name: 'ada', roles: ['administrator'] })
    expect(await house.people.hasAdministrator()).toBe(false)
    await house.close()
  })
})
