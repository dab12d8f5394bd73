import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { addGeneration, openSecretFolder, readGenerations } from './generations'
import { openKeyRing } from './keys-file'
import { signClaims } from './sign'
import { claims, NOW_MS, refusal } from './testing/ledgers'
import { verifyTokenSync } from './verify-node'

let folder: string
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'holdpoint-keys-')), 'keys')
})
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }))

const mode = (path: string) => statSync(path).mode & 0o777
const fileOf = (name: string) => join(folder, name)

describe('the key ring', () => {
  it('is made at first start, for nobody else to read, and found again at the next', () => {
    const made = openKeyRing(folder, NOW_MS)
    expect(made.current.kid).toMatch(/^2026-11-21-[A-Za-z0-9_-]{8}$/)
    expect(mode(folder)).toBe(0o700)
    expect(readdirSync(folder).sort()).toEqual(['sealing-1.json', 'signing-1.json'])
    for (const file of readdirSync(folder)) expect(mode(fileOf(file))).toBe(0o600)
    const found = openKeyRing(folder, NOW_MS + 1e9)
    expect(found.current.kid).toBe(made.current.kid)
    expect(found.sealing.current.keyId).toBe(made.sealing.current.keyId)
    expect(verifyTokenSync(signClaims(claims(), made.current), found.keys, { mode: 'ledger' }).kid).toBe(
      made.current.kid,
    )
  })

  it('shows public halves only', () => {
    const ring = openKeyRing(folder, NOW_MS, 'EdDSA')
    expect(ring.jwks().keys).toEqual([
      { kty: 'OKP', crv: 'Ed25519', x: expect.any(String), kid: ring.current.kid, alg: 'EdDSA', use: 'sig' },
    ])
  })

  it('goes on verifying with old keys after a rotation, whose private halves are gone', () => {
    const ring = openKeyRing(folder, NOW_MS)
    const old = signClaims(claims(), ring.current)
    const kid = ring.current.kid
    ring.rotate(NOW_MS + 86_400_000)
    expect(ring.current.kid).toMatch(/^2026-11-22-/)
    expect(verifyTokenSync(old, ring.keys, { mode: 'ledger' }).kid).toBe(kid)
    expect(readFileSync(fileOf('signing-1.json'), 'utf8')).not.toContain('"d"')
    const next = openKeyRing(folder, NOW_MS)
    expect(next.current.kid).toBe(ring.current.kid)
    expect([...next.keys.keys()]).toEqual([kid, ring.current.kid])
    expect(mode(fileOf('signing-1.json'))).toBe(0o600)
  })

  it('shows a rotation to another process when that one reloads', () => {
    const here = openKeyRing(folder, NOW_MS)
    const there = openKeyRing(folder, NOW_MS)
    here.rotate(NOW_MS)
    const signedMeanwhile = signClaims(claims(), there.current)
    expect(verifyTokenSync(signedMeanwhile, here.keys, { mode: 'ledger' }).kid).toBe(there.current.kid)
    there.reload()
    expect(there.current.kid).toBe(here.current.kid)
  })

  it('keeps former sealing keys whole', () => {
    const ring = openKeyRing(folder, NOW_MS)
    const { keyId, key } = ring.sealing.current
    ring.rotateSealing(NOW_MS)
    expect(ring.sealing.current.keyId).not.toBe(keyId)
    expect(ring.sealing.find(keyId)?.key.export()).toEqual(key.export())
    expect(ring.sealing.find('other')).toBeUndefined()
  })

  it('holds independent secrets by name', () => {
    const ring = openKeyRing(folder, NOW_MS)
    const sessions = ring.secret('sessions', NOW_MS)
    expect(sessions).toHaveLength(32)
    expect(openKeyRing(folder, NOW_MS).secret('sessions', NOW_MS)).toEqual(sessions)
    expect(ring.secret('links', NOW_MS)).not.toEqual(sessions)
    expect(() => ring.secret('../x', NOW_MS)).toThrow(RangeError)
  })

  it.each(['signing-1.json', 'sealing-1.json'])('refuses %s when others may read it', async (file) => {
    openKeyRing(folder, NOW_MS)
    for (const open of [0o640, 0o604, 0o660]) {
      chmodSync(fileOf(file), open)
      const refused = await refusal(() => openKeyRing(folder, NOW_MS))
      expect(refused.code).toBe('key_unusable')
      expect(refused.words).toContain(`may be read by others (mode 0${open.toString(8)}); run: chmod 600`)
    }
  })

  it('refuses a folder others may write in', async () => {
    openKeyRing(folder, NOW_MS)
    chmodSync(folder, 0o770)
    const refused = await refusal(() => openKeyRing(folder, NOW_MS))
    expect(refused).toMatchObject({ code: 'key_unusable', words: expect.stringContaining('chmod 700') })
  })

  it.each([
    ['no JSON', '{'],
    ['JSON without a key', '{}'],
    [
      'another key',
      '{"kid":"a","alg":"ES256","public":{"kty":"oct","k":"c2VjcmV0"},"private":{"kty":"oct","k":"c2VjcmV0"}}',
    ],
  ])('refuses a file that holds %s, and does not quote it', async (_what, content) => {
    openKeyRing(folder, NOW_MS)
    writeFileSync(fileOf('signing-1.json'), content)
    const refused = await refusal(() => openKeyRing(folder, NOW_MS))
    expect(refused.code).toBe('key_unusable')
    expect(refused.words).toMatch(/restore (it|the key folder) from a backup/)
    expect(refused.words).not.toContain('c2VjcmV0')
  })

  it('gives a number away once', () => {
    openSecretFolder(folder)
    expect(addGeneration(folder, 'signing', 1, { who: 'first' })).toBe(true)
    expect(addGeneration(folder, 'signing', 1, { who: 'second' })).toBe(false)
    expect(readGenerations(folder, 'signing')).toEqual([{ number: 1, content: { who: 'first' } }])
    expect(readdirSync(folder)).toEqual(['signing-1.json'])
  })

  it('is one ring for processes that start at once', async () => {
    const program = `import { openKeyRing } from '@/lib/ect/keys-file'
      const ring = openKeyRing(process.argv[1], ${NOW_MS})
      console.log(ring.current.kid, ring.sealing.current.keyId, ring.secret('sessions', ${NOW_MS}).toString('hex'))`
    const start = () =>
      promisify(execFile)(
        process.execPath,
        ['--import', 'tsx', '--input-type=module', '-e', program, folder],
        {
          cwd: join(import.meta.dirname, '../..'),
        },
      )
    const said = await Promise.all([start(), start(), start(), start()])
    expect(new Set(said.map(({ stdout }) => stdout)).size).toBe(1)
    expect(readdirSync(folder).sort()).toEqual(['sealing-1.json', 'secret-sessions-1.json', 'signing-1.json'])
  })
})
