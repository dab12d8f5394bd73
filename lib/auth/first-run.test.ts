import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { firstRunLink, firstRunLinkState, useFirstRunLink } from './first-run'
import { enter, goodPassword, refusal, type TestInstallation, testInstallation } from './test-installation'

let at: TestInstallation
beforeEach(async () => {
  at = await testInstallation()
})
afterEach(() => at.close())

const tokenIn = (link: string | undefined) => link?.split('/').at(-1) ?? ''
const ada = { name: 'ada', password: goodPassword }

describe('the one-time link', () => {
  it('makes one administrator, once', async () => {
    const link = await firstRunLink(at)
    expect(link).toMatch(/^http:\/\/localhost:3000\/first-run\/[\w-]{43}$/)
    expect(await firstRunLinkState(at, tokenIn(link))).toBe('open')
    await useFirstRunLink(at, tokenIn(link), ada)
    expect((await enter(at, 'ada')).person.roles).toEqual(['administrator'])
    expect(await firstRunLinkState(at, tokenIn(link))).toBe('used')
    const again = await refusal(useFirstRunLink(at, tokenIn(link), { ...ada, name: 'bo' }))
    expect(again.code).toBe('link_used')
    expect(again.message).toContain('was used already')
    expect(await firstRunLink(at)).toBeUndefined()
  })

  it('two at once make one', async () => {
    const token = tokenIn(await firstRunLink(at))
    const both = await Promise.allSettled([
      useFirstRunLink(at, token, ada),
      useFirstRunLink(at, token, { ...ada, name: 'bo' }),
    ])
    expect(both.map((r) => r.status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await at.people.people()).toHaveLength(1)
  })

  it('is replaced by the next start, runs out after a day, and is not guessed', async () => {
    const first = tokenIn(await firstRunLink(at))
    const second = tokenIn(await firstRunLink(at))
    expect(await firstRunLinkState(at, first)).toBe('unknown')
    expect((await refusal(useFirstRunLink(at, first, ada))).code).toBe('link_used')
    at.clock.time += 24 * 3_600_000
    expect(await firstRunLinkState(at, second)).toBe('expired')
    expect((await refusal(useFirstRunLink(at, second, ada))).message).toContain('has run out')
    expect((await refusal(useFirstRunLink(at, 'x', ada))).code).toBe('link_used')
    expect(await at.people.people()).toEqual([])
  })

  it('stays open when the choice is refused', async () => {
    const token = tokenIn(await firstRunLink(at))
    expect((await refusal(useFirstRunLink(at, token, { name: 'ada', password: 'short' }))).code).toBe(
      'password_weak',
    )
    expect((await refusal(useFirstRunLink(at, token, { name: 'a b', password: goodPassword }))).code).toBe(
      'bad_request',
    )
    expect(await firstRunLinkState(at, token)).toBe('open')
  })
})
