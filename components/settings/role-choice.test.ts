import { describe, expect, it } from 'vitest'
import { isApiProblem } from '@/lib/ui/api'
import { rolesOf, toggled, withDraft } from './role-choice'

function refusal(draft: string): [string | undefined, string] {
  try {
    rolesOf({ roles: [], draft })
  } catch (error) {
    if (isApiProblem(error, 'bad_request')) return [String(error.data.field), error.message]
  }
  return [undefined, 'nothing was refused']
}

describe('choosing roles', () => {
  it('counts a role that was written but not added', () => {
    expect(rolesOf({ roles: ['viewer'], draft: ' operator:oncall ' })).toEqual(['viewer', 'operator:oncall'])
    expect(rolesOf({ roles: ['viewer'], draft: 'viewer' })).toEqual(['viewer'])
    expect(rolesOf({ roles: ['viewer'], draft: '' })).toEqual(['viewer'])
  })

  it('puts in and takes out', () => {
    expect(toggled({ roles: ['viewer'], draft: 'x' }, 'author')).toEqual({
      roles: ['viewer', 'author'],
      draft: 'x',
    })
    expect(toggled({ roles: ['viewer'], draft: '' }, 'viewer').roles).toEqual([])
  })

  it('leaves what is no role as it is written, and says why', () => {
    const choice = { roles: ['viewer'], draft: 'On Call' }
    expect(withDraft(choice)).toEqual(choice)
    expect(refusal('On Call')).toEqual(['roles', expect.stringContaining('“On Call” is no role')])
    expect(refusal('a:b:c')[1]).toContain('one colon at most')
    expect(refusal('administrator:night')[1]).toContain('takes no addition')
  })
})
