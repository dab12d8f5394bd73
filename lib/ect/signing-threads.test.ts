import { afterEach, expect, it } from 'vitest'
import type { TokenAlg } from './jws'
import { SigningThreads } from './signing-threads'
import { claims, NOW_MS, refusal, testKey } from './testing/ledgers'
import { verifyTokenSync } from './verify-node'

const LIVE = { mode: 'live', nowMs: NOW_MS, audience: 'https://holdpoint.example' } as const
const opened: SigningThreads[] = []

afterEach(() => Promise.all(opened.splice(0).map((threads) => threads.close())))

function threadsThat(...how: ConstructorParameters<typeof SigningThreads>): SigningThreads {
  const threads = new SigningThreads(...how)
  opened.push(threads)
  return threads
}

const many = (count: number) => Array.from({ length: count }, () => claims())

it.each<TokenAlg>(['ES256', 'EdDSA'])('signs what verifies, each its own: %s', async (alg) => {
  const key = testKey(alg)
  const threads = threadsThat()
  const wanted = many(200)
  const tokens = await Promise.all(wanted.map((one, at) => threads.sign(one, key.signing, at % 3 === 0)))
  for (const [at, token] of tokens.entries()) {
    expect(verifyTokenSync(token, key.keys, LIVE)).toEqual({
      kid: key.signing.kid,
      alg,
      claims: wanted[at],
    })
  }
})

it('signs with the key it was asked to, where keys change', async () => {
  const keys = [testKey('ES256', 'old'), testKey('EdDSA', 'new')]
  const threads = threadsThat(1)
  const wanted = many(100)
  const keyAt = (at: number) => keys[Math.floor(at / 7) % 2] as ReturnType<typeof testKey>
  const tokens = await Promise.all(wanted.map((one, at) => threads.sign(one, keyAt(at).signing)))
  for (const [at, token] of tokens.entries()) {
    expect(verifyTokenSync(token, keyAt(at).keys, LIVE).claims).toEqual(wanted[at])
  }
})

it('lets what a commit waits for pass what is signed ahead', async () => {
  const { signing } = testKey()
  const threads = threadsThat(1)
  const order: string[] = []
  const note = (name: string) => () => void order.push(name)
  await Promise.all([
    ...many(200).map((one) => threads.sign(one, signing, true).then(note('ahead'))),
    ...many(20).map((one) => threads.sign(one, signing).then(note('now'))),
  ])
  expect(order.indexOf('ahead')).toBeGreaterThan(order.lastIndexOf('now'))
})

it.each([
  ['cannot begin', `throw new Error('no')`],
  [
    'ends at the first message',
    `require('node:worker_threads').parentPort.on('message', () => process.exit(1))`,
  ],
  [
    'signs nothing',
    `const { parentPort } = require('node:worker_threads'); parentPort.on('message', () => parentPort.postMessage(undefined))`,
  ],
])('signs here what a thread that %s was given', async (_, script) => {
  const key = testKey()
  const threads = threadsThat(1, script)
  const wanted = many(150)
  const tokens = await Promise.all(wanted.map((one) => threads.sign(one, key.signing)))
  expect(tokens.map((token) => verifyTokenSync(token, key.keys, LIVE).claims)).toEqual(wanted)
})

it('signs what was not signed yet when it is closed, and what comes after', async () => {
  const key = testKey()
  const threads = threadsThat()
  const before = many(100).map((one) => threads.sign(one, key.signing))
  await threads.close()
  for (const token of [...(await Promise.all(before)), await threads.sign(claims(), key.signing)]) {
    expect(verifyTokenSync(token, key.keys, LIVE).kid).toBe(key.signing.kid)
  }
})

it('refuses what nobody would accept', async () => {
  const { signing } = testKey()
  const threads = threadsThat()
  expect((await refusal(() => threads.sign(claims({ jti: 'x' }), signing))).code).toBe('ect_claim_invalid')
  const mixed = { ...signing, alg: 'EdDSA' as const }
  expect((await refusal(() => threads.sign(claims(), mixed))).code).toBe('key_unusable')
})
