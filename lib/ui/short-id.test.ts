import { describe, expect, it } from 'vitest'
import { shortId } from './short-id'

describe('shortened ids', () => {
  it('keeps the kind and both ends', () => {
    expect(shortId('run_7f3a0c1e5b1d4c1e9d2a0c1e5b1dc2e1')).toBe('run_7f3a…c2e1')
    expect(shortId('n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg')).toBe('n4bQ…wCgg')
  })
  it('leaves short ones whole', () => {
    expect(shortId('edge-router-07')).toBe('edge-router-07')
  })
})
