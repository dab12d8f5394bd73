import { generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { canonicalJson } from '@/lib/base/canonical-json'
import { sha256 } from '@/lib/base/hash'
import { runIdOf } from '@/lib/base/ids'
import { chainHashSync, firstPrevHashSync } from '@/lib/ect/chain-node'
import type { Claims } from '@/lib/ect/claims'
import { jwksOf, keySetOf, parseKeySet } from '@/lib/ect/keys'
import { type SigningKey, signClaims, signHead } from '@/lib/ect/sign'
import type { LedgerRow } from '@/lib/engine/ports'
import { bundleType, entryName, fixedEntries } from './bundle'
import { readTar, type TarEntry, tarPieces } from './tar'
import { type BundleVerdict, verifyBundle } from './verify-bundle'
import { type BundleContents, writeBundle } from './write-bundle'

const madeAt = Date.UTC(2026, 10, 21, 12)
const iat = Math.floor(madeAt / 1000)
const wid = '7f3a0c1e-5b1d-4c1e-9d2a-0c1e5b1dc2e1'
const runId = runIdOf(wid)
const graph = Buffer.from(canonicalJson({ name: 'two-steps', nodes: [], edges: [] }))
const version = sha256(graph)
const values = ['{"route":"10.0.0.0/8"}', '{"done":true}'].map((text) => ({
  hash: sha256(text),
  bytes: Buffer.from(text),
}))

const ours = keyPair('2026-11-21-ours')
const theirs = keyPair('2026-11-21-theirs')

function keyPair(kid: string) {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key: SigningKey = { kid, alg: 'ES256', privateKey: pair.privateKey }
  const { x = '', y = '' } = pair.publicKey.export({ format: 'jwk' })
  const keys = keySetOf([{ kid, alg: 'ES256', jwk: { kty: 'EC', crv: 'P-256', x, y } }])
  return { key, keys }
}

/** Three tokens one after another, from the start to the end of a run. */
function ledger(): LedgerRow[] {
  const acts: [string, Partial<Claims>][] = [
    ['atd:workflow_start', { inp_hash: values[0]?.hash, ext: { 'hp.version': version } }],
    ['hp:task_start', { inp_hash: values[1]?.hash }],
    ['atd:workflow_complete', {}],
  ]
  const rows: LedgerRow[] = []
  let prevHash = firstPrevHashSync(wid)
  for (const [at, [exec_act, more]] of acts.entries()) {
    const jti = `00000000-0000-4000-8000-00000000000${at + 1}`
    const par = rows.slice(-1).map((row) => row.jti)
    const claims = { iss: 'spiffe://holdpoint.test/a', aud: 'spiffe://holdpoint.test/a', iat, exp: iat + 600 }
    const token = signClaims({ ...claims, jti, wid, exec_act, par, ...more } as Claims, ours.key)
    const hash = chainHashSync(prevHash, token)
    rows.push({ runId, seq: at + 1, jti, token, prevHash, hash })
    prevHash = hash
  }
  return rows
}

function contents(): BundleContents {
  const rows = ledger()
  const last = rows.at(-1) as LedgerRow
  return {
    header: { runId, wid, version, workflowName: 'two-steps', startedBy: 'person:ada' },
    workflow: {
      version,
      name: 'two-steps',
      description: '',
      format: 'atd',
      source: '{"wf_id": "two-steps"}\n',
      mediaType: 'application/atd-workflow+json',
      importedAt: madeAt,
      importedBy: 'person:ada',
      nodeCount: 0,
    },
    graph,
    rows,
    heads: [{ seq: last.seq, jws: signHead({ wid, seq: last.seq, hash: last.hash, iat }, ours.key) }],
    values,
    keys: jwksOf(ours.keys),
  }
}

function flipped(file: Buffer, at: number, bit: number): Buffer {
  const copy = Buffer.from(file)
  copy[at] = (copy[at] as number) ^ (1 << bit)
  return copy
}

async function refusal(file: Uint8Array, keys = ours.keys) {
  const verdict = await verifyBundle(file, { keys })
  if (verdict.holds) throw new Error('expected a refusal, and the bundle holds')
  return verdict.failure
}

describe('a bundle', () => {
  let file: Buffer
  beforeAll(() => {
    file = Buffer.concat(writeBundle(contents(), ours.key, madeAt))
  })

  it('holds, and says what it holds and whose it is', async () => {
    const verdict = (await verifyBundle(file)) as Extract<BundleVerdict, { holds: true }>
    expect(verdict).toMatchObject({
      holds: true,
      run: runId,
      tokens: 3,
      heads: 1,
      values: 2,
      keysGiven: false,
      madeAt,
    })
    expect(verdict.signedBy.kid).toBe('2026-11-21-ours')
    expect(verdict.signedBy.thumbprint).toMatch(/^[\w-]{43}$/)
    expect(await verifyBundle(file, { keys: ours.keys })).toMatchObject({ holds: true, keysGiven: true })
  })

  it('opens with any tar program: its entries are as listed', () => {
    expect(readTar(file).map(({ name }) => name)).toEqual([
      ...fixedEntries,
      ...values.map(({ hash }) => `values/${hash}`),
    ])
  })

  it('notices and names a change of any single byte', async () => {
    const unnoticed: number[] = []
    const unnamed: number[] = []
    for (let at = 0; at < file.length; at++) {
      const verdict = await verifyBundle(flipped(file, at, at % 8))
      if (verdict.holds) unnoticed.push(at)
      // Before the first entry's name there is nothing to name it by.
      else if (verdict.failure.entry === '' && at >= 512) unnamed.push(at)
    }
    expect({ unnoticed, unnamed }).toEqual({ unnoticed: [], unnamed: [] })
  })

  it('notices any other edit: bytes cut out, put in, or exchanged', async () => {
    const edit = fc.record({
      at: fc.nat(file.length - 1),
      cut: fc.nat(600),
      put: fc.uint8Array({ maxLength: 600 }),
    })
    await fc.assert(
      fc.asyncProperty(edit, async ({ at, cut, put }) => {
        const changed = Buffer.concat([file.subarray(0, at), put, file.subarray(at + cut)])
        fc.pre(!changed.equals(file))
        expect((await verifyBundle(changed)).holds).toBe(false)
      }),
      { numRuns: 300 },
    )
  })

  it('names the token that was changed', async () => {
    const token = contents().rows[1]?.token ?? ''
    const lines = readTar(file).find(({ name }) => name === entryName.ledger)?.content ?? new Uint8Array()
    const text = Buffer.from(lines).toString()
    const start = file.indexOf(text.slice(0, 60))
    const second = start + text.indexOf('\n') + (text.split('\n')[1] ?? '').lastIndexOf('.') - 5
    expect(token).not.toBe('')
    const failure = await refusal(flipped(file, second, 0))
    expect(failure).toMatchObject({ entry: 'ledger.jsonl', seq: 2 })
    expect(failure.sentence).toMatch(/^Token 2 \(00000000-0000-4000-8000-000000000002\) does not hold: /)
  })

  it('names the keys when it is they that were changed', async () => {
    const at = file.indexOf('"x":"') + 9
    const failed = await verifyBundle(flipped(file, at, 0))
    expect(failed).toMatchObject({ holds: false, failure: { entry: 'keys.json' } })
  })

  it('refuses entries that change places, are left out, or are put in', async () => {
    const entries = readTar(file)
    const again = (list: typeof entries) => Buffer.concat(tarPieces(list))
    const [a, b] = entries.slice(-2) as [TarEntry, TarEntry]
    expect(await refusal(again([...entries.slice(0, -2), b, a]))).toMatchObject({
      code: 'bundle_invalid',
      entry: a.name,
    })
    expect((await refusal(again(entries.slice(0, -1)))).sentence).toMatch(
      /lists "values\/.*" here, and the bundle has nothing/,
    )
    const more = await refusal(again([...entries, { name: 'extra.txt', content: Buffer.from('x') }]))
    expect(more.sentence).toBe('The bundle has an entry "extra.txt" that the manifest does not list.')
  })

  it('does not hold under the keys of someone else', async () => {
    expect(await refusal(file, theirs.keys)).toMatchObject({ entry: 'manifest.jws', code: 'ect_key_unknown' })
  })

  it('does not hold when its maker signed it anew with a key of their own', async () => {
    const forged = Buffer.concat(writeBundle(contents(), { ...theirs.key, kid: ours.key.kid }, madeAt))
    expect(await refusal(forged)).toMatchObject({ entry: 'manifest.jws', code: 'ect_signature_invalid' })
  })

  it('notices a ledger that was cut short before the export', async () => {
    const whole = contents()
    const cut = Buffer.concat(writeBundle({ ...whole, rows: whole.rows.slice(0, 2) }, ours.key, madeAt))
    expect(await refusal(cut)).toMatchObject({ entry: 'heads.jsonl', code: 'ledger_tail_cut' })
  })

  it('notices a graph that is not the one the run is pinned to', async () => {
    const other = Buffer.concat(writeBundle({ ...contents(), graph: Buffer.from('{}') }, ours.key, madeAt))
    expect(await refusal(other)).toMatchObject({ entry: 'graph.json', code: 'bundle_invalid' })
  })

  it('says so of files that are no bundles', async () => {
    const picture = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(3000, 7)])
    const otherTar = Buffer.concat(tarPieces([{ name: 'notes.txt', content: Buffer.from('x') }]))
    const others = [Buffer.from('{}'), Buffer.alloc(2048), Buffer.alloc(4096, 65), picture]
    for (const bytes of [Buffer.alloc(0), otherTar, ...others]) {
      expect(await refusal(bytes)).toMatchObject({
        code: 'bundle_invalid',
        entry: '',
        sentence: expect.stringMatching(/^This is not a Holdpoint bundle: /),
      })
    }
    expect((await refusal(Buffer.alloc(0))).sentence).toContain('the file is empty')
    expect((await refusal(otherTar)).sentence).toContain('a tar file with other entries')
  })

  it('never takes a token for a statement', async () => {
    const [first] = contents().rows
    const entries = readTar(file).map((entry) =>
      entry.name === entryName.statement ? { ...entry, content: Buffer.from(first?.token ?? '') } : entry,
    )
    const failure = await refusal(Buffer.concat(tarPieces(entries)))
    expect(failure).toMatchObject({ entry: 'manifest.jws', code: 'ect_typ_refused' })
    expect(failure.sentence).toContain(bundleType)
  })

  it('checks the keys given as a published set', async () => {
    const published = parseKeySet(JSON.parse(JSON.stringify(jwksOf(ours.keys))))
    expect(await verifyBundle(file, { keys: published })).toMatchObject({ holds: true, keysGiven: true })
  })
})
