import { describe, expect, it } from 'vitest'
import type { Principal } from '@/lib/auth/principal'
import { memoryRates } from '@/lib/store/rates'
import { Looks, looksPerMinute } from './looks'

const person = (name: string): Principal => ({ kind: 'person', id: name, name, roles: [], session: 's' })
const [ada, grace] = [person('ada'), person('grace')]

/** Looks at numbered states of one target, at a time that the test sets. */
function scene() {
  const clock = { at: 1_000_000, now: () => clock.at }
  const looks = new Looks(memoryRates(), clock)
  let made = 0
  const look = (who: Principal, card = 'appr_1') => looks.shared(who, card, async () => ++made)
  return { clock, looks, look }
}

describe('a look', () => {
  it('under way serves everybody who opens the same card', async () => {
    const { look } = scene()
    expect(await Promise.all([look(ada), look(grace), look(ada)])).toEqual([1, 1, 1])
  })

  it('that is over serves others for 3 s, and nobody twice', async () => {
    const { clock, look } = scene()
    expect(await look(ada)).toBe(1)
    clock.at += 2_999
    expect(await look(grace)).toBe(1)
    expect(await look(grace), 'who asks again wants to know anew').toBe(2)
    expect(await look(ada), 'what grace saw is new to ada').toBe(2)
    clock.at += 3_000
    expect(await look(person('ines'))).toBe(3)
  })

  it('at one card serves nobody at another', async () => {
    const { look } = scene()
    expect([await look(ada), await look(grace, 'appr_2')]).toEqual([1, 2])
  })

  it('that failed serves nobody who comes after it', async () => {
    const { looks, look } = scene()
    const failing = looks.shared(ada, 'appr_1', async () => {
      throw new Error('no answer')
    })
    await expect(failing).rejects.toThrow('no answer')
    expect(await look(grace)).toBe(1)
  })

  it('is counted for whoever causes it, and not for whoever shares it', async () => {
    const { clock, look } = scene()
    for (let n = 1; n <= looksPerMinute; n++) await look(ada, `appr_${n}`)
    const refused = await look(ada, 'appr_more').catch((error: unknown) => error)
    expect(refused).toMatchObject({
      code: 'too_many_requests',
      message:
        'ada had what steps act on looked at more than 60 times within a minute, and each time a file is read or an agent asked; look again in 1 s.',
      data: { retryAfterS: 1 },
    })
    await look(grace, 'appr_more')
    expect(await look(ada, 'appr_more'), 'shared').toBe(looksPerMinute + 1)
    clock.at += 1_000
    expect(await look(ada, 'appr_next')).toBe(looksPerMinute + 2)
  })
})
