import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { changePerson } from './accounts'
import { createApiToken, type NewApiToken, tokenOf } from './api-tokens'
import { actorOf, type PersonPrincipal } from './principal'
import { person, refusal, type TestInstallation, testInstallation } from './test-installation'

let at: TestInstallation
let ada: PersonPrincipal
beforeAll(async () => {
  at = await testInstallation()
  await person(at, 'root', 'administrator')
  const { id, name, roles } = await person(at, 'ada', 'operator')
  ada = { kind: 'person', id, name, roles, session: '' }
})
afterAll(() => at.close())

const withHeader = (authorization: string) => new Request('http://localhost/', { headers: { authorization } })
const asked = { name: 'ci', scopes: ['tasks:work', 'runs:read'], days: 30 }

describe('an API token', () => {
  it('is shown once and acts for its person within its scopes', async () => {
    const { secret, token } = await createApiToken(at, ada, asked)
    expect(secret).toMatch(/^hp_[\w-]{43}$/)
    expect(JSON.stringify(await at.people.tokensOf(ada.id))).not.toContain(secret)
    const principal = await tokenOf(at, withHeader(`Bearer ${secret}`))
    expect(principal).toEqual({
      kind: 'api_token',
      id: token.id,
      name: 'ci',
      person: { id: ada.id, name: 'ada' },
      roles: ['operator'],
      scopes: ['runs:read', 'tasks:work'],
    })
    expect(principal && actorOf(principal)).toBe('person:ada+token:ci')
    await changePerson(at, ada.id, { roles: ['viewer'] })
    expect((await tokenOf(at, withHeader(`bearer ${secret}`)))?.roles).toEqual(['viewer'])
    await changePerson(at, ada.id, { roles: ['operator'] })
  })

  it('notes its last use, at most once a minute', async () => {
    const { secret, token } = await createApiToken(at, ada, asked)
    const lastUse = async () => (await at.people.tokensOf(ada.id)).find((t) => t.id === token.id)?.lastUsedAt
    expect(await lastUse()).toBeUndefined()
    const first = at.clock.time
    await tokenOf(at, withHeader(`Bearer ${secret}`))
    at.clock.time += 59_000
    await tokenOf(at, withHeader(`Bearer ${secret}`))
    expect(await lastUse()).toBe(first)
    at.clock.time += 2_000
    await tokenOf(at, withHeader(`Bearer ${secret}`))
    expect(await lastUse()).toBe(at.clock.time)
  })

  it('is refused when unknown, malformed, revoked, run out, or its account is disabled', async () => {
    const refused = async (header: string) => {
      const problem = await refusal(tokenOf(at, withHeader(header)))
      expect(problem.code).toBe('token_invalid')
      expect(problem.message).not.toContain(header.slice(10))
      return problem.message
    }
    expect(await refused(`Bearer hp_${'a'.repeat(43)}`)).toContain('not known here')
    expect(await refused('Basic YWRhOmFkYQ==')).toContain('is not "Bearer"')
    expect(await tokenOf(at, new Request('http://localhost/'))).toBeUndefined()

    const revoked = await createApiToken(at, ada, asked)
    expect((await refusal(at.people.revokeToken(revoked.token.id, 'someone-else', 0))).code).toBe('not_found')
    await at.people.revokeToken(revoked.token.id, ada.id, at.clock.time)
    await at.people.revokeToken(revoked.token.id, ada.id, at.clock.time)
    expect(await refused(`Bearer ${revoked.secret}`)).toContain('was revoked')

    const other = await createApiToken(at, ada, asked)
    await changePerson(at, ada.id, { disabled: true })
    expect(await refused(`Bearer ${other.secret}`)).toContain('was disabled')
    await changePerson(at, ada.id, { disabled: false })
    at.clock.time += 30 * 86_400_000
    expect(await refused(`Bearer ${other.secret}`)).toContain('has run out')
  })

  it('is not made with an unknown scope, without one, or for ever', async () => {
    const wrongs: [Partial<NewApiToken>, string][] = [
      [{ scopes: ['runs:read', 'all'] }, '"all" is no scope'],
      [{ scopes: [] }, 'No scope was given'],
      [{ days: 367 }, 'from 1 to 366'],
      [{ name: '' }, '1 to 60 letters'],
    ]
    for (const [wrong, words] of wrongs) {
      const problem = await refusal(createApiToken(at, ada, { ...asked, ...wrong }))
      expect(problem.code).toBe('bad_request')
      expect(problem.message).toContain(words)
    }
  })
})
