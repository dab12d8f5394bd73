import { describe, expect, it } from 'vitest'
import { keySetIn, keysLeftOut } from './key-set'

const key = (kid: string) => ({ kid, alg: 'ES256', thumbprint: 'x' })

describe('a key set in a form', () => {
  it('is JSON, or a sentence says how it begins', () => {
    expect(keySetIn('{"keys": []}')).toEqual({ keys: [] })
    expect(() => keySetIn(' ')).toThrow('at least one public key')
    expect(() => keySetIn('{"keys": [')).toThrow('not JSON')
  })

  it('names the registered keys it leaves out', () => {
    const registered = [key('a'), key('b')]
    expect(keysLeftOut(registered, '{"keys": [{"kid": "b"}, null]}').map(({ kid }) => kid)).toEqual(['a'])
    for (const unreadable of ['', '{', '[]', '{"keys": 1}', 'null']) {
      expect(keysLeftOut(registered, unreadable)).toEqual([])
    }
  })
})
