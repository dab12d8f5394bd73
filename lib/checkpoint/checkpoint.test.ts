import { generateKeySync, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashJson } from '@/lib/base/hash'
import { isProblem } from '@/lib/base/problem'
import { checkCheckpointRoom, expiresAt, isCheckpointDue } from './due'
import { type CheckpointPlace, open, type SealingKeyRing, seal } from './seal'
import { verifyCheckpoint } from './verify'

const PLACE: CheckpointPlace = {
  jti: '7f3a0c1e-5b1d-4c1e-9d2a-0c1e5b1dc2e1',
  runId: 'run_7f3a0c1e5b1d4c1e9d2a0c1e5b1dc2e1',
  node: 'update-bgp-peer',
  visit: 1,
}
const STATE = { path: '/etc/router.conf', bytes: 'bmVpZ2hib3I=', mode: 416 }

function keyRing(...ids: [string, ...string[]]): SealingKeyRing {
  const keys = new Map(ids.map((keyId) => [keyId, { keyId, key: generateKeySync('aes', { length: 256 }) }]))
  const current = keys.get(ids.at(-1) as string)
  if (current === undefined) throw new Error('A ring has a key')
  return { current, find: (keyId) => keys.get(keyId) }
}

function refusal(call: () => unknown): { code: string; words: string } {
  try {
    call()
  } catch (error) {
    if (isProblem(error)) return { code: error.code, words: error.message }
    throw error
  }
  throw new Error('It was accepted')
}

describe('a sealed state', () => {
  const ring = keyRing('2026-11-21-aaaa')
  const { sealed, keyId } = seal(STATE, PLACE, ring, randomBytes)

  it('opens in its place as it was', () => {
    expect(keyId).toBe('2026-11-21-aaaa')
    expect(open(sealed, PLACE, ring)).toEqual(STATE)
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), fc.nat(), (state, node, visit) => {
        const plain = JSON.parse(JSON.stringify(state))
        const place = { ...PLACE, node, visit }
        expect(open(seal(plain, place, ring, randomBytes).sealed, place, ring)).toEqual(plain)
      }),
    )
  })

  it('shows nothing of what it holds, and is never sealed the same way twice', () => {
    expect(Buffer.from(sealed).includes('router.conf')).toBe(false)
    expect(seal(STATE, PLACE, ring, randomBytes).sealed).not.toEqual(sealed)
  })

  it('does not open when any one bit was changed, or when it was cut', () => {
    for (let at = 0; at < sealed.length; at++) {
      const changed = Uint8Array.from(sealed)
      changed[at] = (changed[at] as number) ^ (1 << (at % 8))
      expect(refusal(() => open(changed, PLACE, ring)).code).toMatch(/^checkpoint_(tampered|missing)$/)
      expect(refusal(() => open(sealed.slice(0, at), PLACE, ring)).code).toMatch(
        /^checkpoint_(tampered|missing)$/,
      )
    }
    expect(refusal(() => open(sealed.slice(0, -1), PLACE, ring))).toEqual({
      code: 'checkpoint_tampered',
      words:
        'The sealed state before step update-bgp-peer does not open: it was changed, or sealed for another step',
    })
  })

  it.each<Partial<CheckpointPlace>>([
    { jti: '00000000-5b1d-4c1e-9d2a-0c1e5b1dc2e1' },
    { runId: 'run_00000000000000000000000000000000' },
    { node: 'n2' },
    { visit: 2 },
  ])('does not open in another place: %o', (elsewhere) => {
    expect(refusal(() => open(sealed, { ...PLACE, ...elsewhere }, ring)).code).toBe('checkpoint_tampered')
  })

  it('opens with its old key after a rotation, and says when that key is gone', () => {
    const rotated = keyRing('old', 'new')
    const old = rotated.find('old') as { keyId: string; key: ReturnType<typeof generateKeySync> }
    const before = seal(STATE, PLACE, { ...rotated, current: old }, randomBytes).sealed
    expect(open(before, PLACE, rotated)).toEqual(STATE)
    expect(refusal(() => open(before, PLACE, keyRing('new')))).toMatchObject({
      code: 'checkpoint_missing',
      words: expect.stringContaining('under a key this installation does not have'),
    })
    expect(refusal(() => open(before, PLACE, keyRing('old'))).code).toBe('checkpoint_tampered')
  })

  it('needs a nonce of 96 bits', () => {
    expect(() => seal(STATE, PLACE, ring, () => randomBytes(8))).toThrow('A nonce has 12 octets')
  })
})

describe('a checkpoint', () => {
  const AT = 1_795_252_471_000
  const given = {
    jti: PLACE.jti,
    node: PLACE.node,
    at: AT,
    ttlS: 60,
    outHash: hashJson(STATE),
    signatureValid: true,
    state: STATE,
    now: AT + 59_999,
  }

  it('serves while its time lasts and its state is the one it vouches for', () => {
    const shuffled = { mode: 416, bytes: 'bmVpZ2hib3I=', path: '/etc/router.conf' }
    const good = { verification: 'ok', signatureValid: true, outHashMatches: true, expired: false }
    expect(verifyCheckpoint(given)).toEqual(good)
    expect(verifyCheckpoint({ ...given, state: shuffled })).toEqual(good)
  })

  it.each([
    ['expired', { now: AT + 64_000 }, 'checkpoint_expired', 'expired 4 s ago'],
    ['expired', { now: AT + 60_000, state: undefined }, 'checkpoint_expired', 'expired 0 s ago'],
    ['missing', { state: undefined }, 'checkpoint_missing', 'is no longer stored'],
    ['tampered', { state: 'unopened' as const }, 'checkpoint_tampered', '"out_hash" differs'],
    ['tampered', { state: { ...STATE, mode: 420 } }, 'checkpoint_tampered', '"out_hash" differs'],
    [
      'tampered',
      { signatureValid: false },
      'checkpoint_tampered',
      'token of step update-bgp-peer does not verify',
    ],
  ])('is %s when %o', (verification, over, code, words) => {
    const verdict = verifyCheckpoint({ ...given, ...over })
    expect(verdict.verification).toBe(verification)
    expect(verdict.problem?.code).toBe(code)
    expect(verdict.problem?.message).toContain(words)
    expect(verdict.problem?.message).not.toContain('bmVpZ2hib3I')
  })

  it('is due before whatever changes the world, also when it cannot be undone', () => {
    expect(['read_only', 'reversible', 'irreversible'].map((c) => isCheckpointDue(c as 'read_only'))).toEqual(
      [false, true, true],
    )
    expect(expiresAt(AT)).toBe(AT + 86_400_000)
  })

  it('is refused past the limit of a run', () => {
    checkCheckpointRoom(9_999)
    expect(refusal(() => checkCheckpointRoom(10_000))).toMatchObject({
      code: 'checkpoint_limit',
      words: expect.stringContaining('has taken 10000 checkpoints and may take 10000'),
    })
    expect(refusal(() => checkCheckpointRoom(2, 2)).code).toBe('checkpoint_limit')
  })
})
