import { describe, expect, it } from 'vitest'
import type { CannotPrepare } from '@/lib/rollback/terms'
import type { AboutRollback } from './question-wire'
import { warningOf } from './warning'

const those = (...whys: (CannotPrepare | undefined)[]): Pick<AboutRollback, 'cannot'> => ({
  cannot: whys.map((why, at) => ({
    ...{
      node: `n${at}`,
      visit: 1,
      label: 'Weigh',
      agent: 'spiffe://lab/agent/a',
      here: false,
      description: '',
    },
    ...(why && { why }),
  })),
})

describe('a rollback that cannot be whole', () => {
  it('warns that it cannot be undone only where that is so', () => {
    expect(warningOf(those('irreversible', 'hash_mismatch'))).toBe('irreversible')
    expect(warningOf(those('unreachable'))).toBeUndefined()
    expect(warningOf(those(undefined))).toBeUndefined()
    expect(warningOf(those())).toBeUndefined()
  })
  it('says that it was changed since only where nothing else is in the way', () => {
    expect(warningOf(those('hash_mismatch', 'hash_mismatch'))).toBe('changed_since')
    expect(warningOf(those('hash_mismatch', 'expired'))).toBeUndefined()
  })
})
