import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chainHash, firstPrevHash } from './chain'
import { chainHashSync, firstPrevHashSync } from './chain-node'
import type { Claims } from './claims'
import { type LedgerEntry, LedgerVerifier, verifyLedger } from './ledger-verify'
import { verifyLedgerNode } from './ledger-verify-node'
import { signHead } from './sign'
import { claims, headAt, ledgerOf, NOW_MS, NOW_S, runOf, testKey, WID } from './testing/ledgers'

const key = testKey()
const OTHER_WID = claims().jti

/** Verifies on both back ends, which must agree. */
async function verdict(rows: LedgerEntry[], heads: { seq: number; jws: string }[] = [], wid = WID) {
  const ledger = { wid, rows, heads, keys: key.keys }
  const said = await verifyLedger(ledger)
  expect(await verifyLedgerNode(ledger)).toEqual(said)
  return said
}

async function failure(...given: Parameters<typeof verdict>) {
  const said = await verdict(...given)
  if (said.holds) throw new Error('The ledger holds')
  return { ...said.failure, tokens: said.tokens }
}

/** The ledger with consistent hashes again, as an attacker would leave it. */
function rechained(rows: LedgerEntry[]): LedgerEntry[] {
  let prevHash = firstPrevHashSync(WID)
  return rows.map((row, at) => {
    const hash = chainHashSync(prevHash, row.token)
    const entry = { ...row, seq: at + 1, prevHash, hash }
    prevHash = hash
    return entry
  })
}

const replaced = (rows: LedgerEntry[], seq: number, over: Partial<LedgerEntry>) =>
  rows.map((row) => (row.seq === seq ? { ...row, ...over } : row))

describe('a ledger', () => {
  const list = runOf(8, true)
  const rows = ledgerOf(key, list)
  const heads = [headAt(key, rows)]

  it('holds when nothing was touched', async () => {
    expect(await verdict(rows, heads)).toEqual({ holds: true, tokens: 8, heads: 1, lastHash: rows[7]?.hash })
  })

  it('holds at every prefix of a run that goes on', async () => {
    for (let length = 0; length < 8; length++) {
      expect(await verdict(rows.slice(0, length))).toMatchObject({ holds: true, tokens: length })
    }
  })

  it('is chained alike in the browser and on the server', async () => {
    expect(await firstPrevHash(WID)).toBe(firstPrevHashSync(WID))
    expect(await chainHash(WID, 'a.b.c')).toBe(chainHashSync(WID, 'a.b.c'))
  })

  it('names the token in which any one octet was flipped', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 8 }),
        fc.nat(),
        fc.integer({ min: 1, max: 127 }),
        async (seq, pick, flip) => {
          const token = (rows[seq - 1] as LedgerEntry).token
          const at = pick % token.length
          const changed =
            token.slice(0, at) + String.fromCharCode(token.charCodeAt(at) ^ flip) + token.slice(at + 1)
          const failed = await failure(replaced(rows, seq, { token: changed }), heads)
          expect(failed).toMatchObject({ seq, tokens: seq - 1 })
          expect(failed.code).toMatch(/^ect_/)
        },
      ),
      { numRuns: 100 },
    )
  })

  it('names the entry whose hashes were changed', async () => {
    const [hash] = [rows[0]?.hash as string]
    expect(await failure(replaced(rows, 3, { prevHash: hash }), heads)).toMatchObject({
      seq: 3,
      jti: list[2]?.jti,
      code: 'ledger_broken',
      sentence: expect.stringContaining('Entry 3 does not follow entry 2'),
    })
    expect((await failure(replaced(rows, 3, { hash }), heads)).sentence).toBe(
      'The hash of entry 3 is not the hash of its token',
    )
    expect((await failure(replaced(rows, 3, { jti: list[0]?.jti as string }), heads)).sentence).toContain(
      'filed under the jti',
    )
  })

  it('names the gap where an entry is missing', async () => {
    const failed = await failure(
      rows.filter((row) => row.seq !== 4),
      heads,
    )
    expect(failed).toMatchObject({ seq: 4, sentence: 'Entry 4 is missing; the ledger goes on with entry 5' })
  })

  it('notices an entry cut out and the chain mended', async () => {
    const failed = await failure(rechained(rows.filter((row) => row.seq !== 4)))
    expect(failed).toMatchObject({ seq: 4, code: 'ect_parent_unknown', jti: list[4]?.jti })
  })

  it('notices a leaf cut out and the chain mended, by its head', async () => {
    const root = claims()
    const leafy = ledgerOf(key, [root, claims({ par: [root.jti] }), claims({ par: [root.jti] })])
    const cut = rechained(leafy.filter((row) => row.seq !== 2))
    const failed = await failure([...cut], [headAt(key, leafy, 3)])
    expect(failed).toMatchObject({ code: 'ledger_tail_cut', seq: 3 })
    const swapped = rechained([leafy[0], leafy[2], leafy[1]] as LedgerEntry[])
    expect(await failure(swapped, [headAt(key, leafy, 3)])).toMatchObject({
      code: 'ledger_broken',
      sentence: expect.stringContaining('names another hash than the chain'),
    })
  })

  it('notices a cut tail', async () => {
    const failed = await failure(rows.slice(0, 6), heads)
    expect(failed).toMatchObject({
      seq: 8,
      code: 'ledger_tail_cut',
      sentence: 'A signed head covers 8 entries, but the ledger ends at entry 6: its tail was cut off',
    })
  })

  it('notices that the head of an ended run is gone', async () => {
    expect(await failure(rows, [])).toMatchObject({
      seq: 8,
      code: 'ledger_tail_cut',
      sentence: expect.stringContaining('heads were removed'),
    })
  })

  it('refuses the token of another run, and a ledger passed off as another', async () => {
    const foreign = ledgerOf(key, [...runOf(2), claims({ wid: OTHER_WID })])
    expect((await failure(foreign)).sentence).toBe(`The token of entry 3 belongs to the run ${OTHER_WID}`)
    expect(await failure(rows, heads, OTHER_WID)).toMatchObject({ seq: 1, code: 'ledger_broken' })
  })

  it.each<[string, (before: Claims[]) => Claims, string]>([
    ['an unknown parent', () => claims({ par: [OTHER_WID] }), 'ect_parent_unknown'],
    ['a duplicate jti', (before) => claims({ jti: before[0]?.jti as string }), 'ect_duplicate_jti'],
    [
      'a parent that is later',
      (before) => claims({ par: [before[1]?.jti as string], iat: NOW_S - 60 }),
      'ect_parent_later',
    ],
  ])('names a token with %s', async (_what, next, code) => {
    const before = runOf(3)
    expect(await failure(ledgerOf(key, [...before, next(before)]))).toMatchObject({ seq: 4, code, tokens: 3 })
  })

  it('refuses a token of a key that is not in the set', async () => {
    const stranger = testKey('ES256', 'stranger')
    expect((await failure(ledgerOf(stranger, list))).code).toBe('ect_key_unknown')
    expect((await failure(ledgerOf(testKey(), list))).code).toBe('ect_signature_invalid')
  })

  it('refuses tokens from the future when it is told the time', async () => {
    const ledger = { wid: WID, rows, heads, keys: key.keys }
    expect(await verifyLedger(ledger, { nowMs: NOW_MS })).toMatchObject({ holds: true })
    expect(await verifyLedger(ledger, { nowMs: NOW_MS - 31_000 })).toMatchObject({
      failure: { seq: 1, code: 'ect_from_future' },
    })
  })

  it('refuses heads that are not its own', async () => {
    const hash = rows[7]?.hash as string
    const elsewhere = { seq: 8, jws: signHead({ wid: OTHER_WID, seq: 8, hash, iat: NOW_S }, key.signing) }
    expect((await failure(rows, [elsewhere])).sentence).toContain(
      'The signed head at entry 8 belongs to the run',
    )
    expect((await failure(rows, [{ ...(heads[0] as { jws: string }), seq: 7 }])).sentence).toContain(
      'was signed for entry 8',
    )
    expect((await failure(rows, [{ seq: 8, jws: rows[7]?.token as string }])).code).toBe('ect_typ_refused')
    const forged = headAt(testKey(), rows)
    expect((await failure(rows, [forged])).code).toBe('ect_signature_invalid')
  })

  it('follows a recorded link to another run', async () => {
    const child = claims({ par: [OTHER_WID] })
    const linked = ledgerOf(key, [child])
    const unlinked = await verifyLedger({ wid: WID, rows: linked, heads: [], keys: key.keys })
    expect(unlinked).toMatchObject({ failure: { code: 'ect_parent_unknown' } })
    const links = [[child.jti, OTHER_WID]] as const
    expect(
      await verifyLedger({ wid: WID, rows: linked, heads: [], keys: key.keys }, { links }),
    ).toMatchObject({
      holds: true,
    })
  })

  it('may arrive page by page and tells how far it is', async () => {
    const long = ledgerOf(key, runOf(600))
    const verifier = new LedgerVerifier(WID, key.keys)
    for (let at = 0; at < 600; at += 77) expect(await verifier.add(long.slice(at, at + 77))).toBeUndefined()
    expect(await verifier.finish([headAt(key, long, 500)])).toMatchObject({
      holds: true,
      tokens: 600,
      heads: 1,
    })
    const told: number[] = []
    await verifyLedgerNode(
      { wid: WID, rows: long, heads: [], keys: key.keys },
      { onProgress: (done) => told.push(done) },
    )
    expect(told).toEqual([256, 512, 600])
  })
})
