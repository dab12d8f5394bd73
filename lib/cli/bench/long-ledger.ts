import { generateKeyPairSync, type KeyObject, verify } from 'node:crypto'
import { type Claims, parseClaims } from '@/lib/ect/claims'
import { decodeJws, TOKEN_TYPES, unverifiedPayload } from '@/lib/ect/jws'
import { keySetOf, type PublicJwk } from '@/lib/ect/keys'
import { verifyLedgerNode } from '@/lib/ect/ledger-verify-node'
import { evolve, newRun } from '@/lib/engine/evolve'
import { factOf } from '@/lib/engine/fact-codec'
import { ReverseIndex } from '@/lib/rollback/blast-radius'
import { atMost, type Benchmark, type Figure, median, shown, type Took, took } from './figures'
import { longRun, signedLedger } from './long-run'

/** Verifying, folding and walking a ledger of 100,000 tokens. */
export const longLedger: Benchmark = {
  group: 'long ledger',
  async measure(say, quick) {
    const tokens = quick ? 9_000 : 100_000
    say(`signing ${tokens.toLocaleString('en')} tokens`)
    const run = longRun(tokens)
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const key = { kid: 'bench', alg: 'ES256', privateKey } as const
    const { rows, heads } = await signedLedger(run, key)
    const claims = rows.map(({ token }) => parseClaims(unverifiedPayload(token)))
    const facts = claims.map((one) => factOf(one))

    say('folding')
    const foldMs: number[] = []
    const decodeMs: number[] = []
    for (let round = 0; round < 15; round++) {
      const fold = await took(() => {
        const folded = newRun(run.graph)
        for (const fact of facts) evolve(folded, fact)
      })
      foldMs.push(fold.ms)
    }
    for (let round = 0; round < 3; round++) {
      const decode = await took(() => {
        const folded = newRun(run.graph)
        for (const { token } of rows) evolve(folded, factOf(parseClaims(unverifiedPayload(token))))
      })
      decodeMs.push(decode.ms)
    }

    say('verifying')
    const keys = keySetOf([
      { kid: 'bench', alg: 'ES256', jwk: publicKey.export({ format: 'jwk' }) as PublicJwk },
    ])
    const pairs: { whole: Took; bare: Took }[] = []
    const checks = signatures(rows)
    for (let round = 0; round < (quick ? 3 : 5); round++) {
      const bare = await took(() => bareChecks(checks, publicKey))
      const whole = await took(async () => {
        const verdict = await verifyLedgerNode({ wid: run.wid, rows, heads, keys })
        if (!verdict.holds) throw new Error(verdict.failure.sentence)
      })
      pairs.push({ whole, bare })
      say(`verified in ${Math.round(whole.ms)} ms, bare checks ${Math.round(bare.ms)} ms`)
    }
    const each = (figure: (pair: { whole: Took; bare: Took }) => number) => median(pairs.map(figure))
    const perSecond = (ms: number) => (rows.length / ms) * 1000
    return [
      atMost(
        1.5,
        'verify a ledger: time to bare signature checks',
        each(({ whole, bare }) => whole.ms / bare.ms),
        'times',
      ),
      shown(
        'verify a ledger: CPU to bare signature checks',
        each(({ whole, bare }) => whole.cpuMs / bare.cpuMs),
        'times',
      ),
      shown('verify a ledger', perSecond(each(({ whole }) => whole.ms)), 'tokens/s'),
      shown('verify a ledger: bare signature checks', perSecond(each(({ bare }) => bare.ms)), 'tokens/s'),
      atMost(300, `fold ${rows.length.toLocaleString('en')} tokens`, median(foldMs), 'ms'),
      shown('fold: decoded from the tokens as well', median(decodeMs), 'ms'),
      ...(await blastRadius(claims)),
    ]
  },
}

/** What follows from the first token is everything: the largest answer there is. */
async function blastRadius(claims: readonly Claims[]): Promise<Figure[]> {
  const index = new ReverseIndex()
  const built = await took(() => {
    for (const { jti, par } of claims) index.add(jti, par)
  })
  const times: number[] = []
  for (let round = 0; round < 15; round++) {
    const walk = await took(() => {
      const { tokens } = index.blastRadius(claims[0]?.jti ?? '')
      if (tokens.length !== claims.length - 1) throw new Error(`Only ${tokens.length} tokens were reached`)
    })
    times.push(walk.ms)
  }
  return [
    atMost(50, `blast radius of ${claims.length.toLocaleString('en')} tokens`, median(times), 'ms'),
    shown('blast radius: turning the parents around', built.ms, 'ms'),
  ]
}

interface Check {
  input: Buffer
  signature: Uint8Array
}

function signatures(rows: readonly { token: string }[]): Check[] {
  return rows.map(({ token }) => {
    const { signingInput, signature } = decodeJws(token, TOKEN_TYPES)
    return { input: Buffer.from(signingInput, 'latin1'), signature }
  })
}

/** Signatures and nothing else, decoded before, on all cores as the verifier does it. */
async function bareChecks(checks: readonly Check[], key: KeyObject): Promise<void> {
  const options = { key, dsaEncoding: 'ieee-p1363' } as const
  for (let from = 0; from < checks.length; from += 256) {
    const batch = checks
      .slice(from, from + 256)
      .map(
        ({ input, signature }) =>
          new Promise<boolean>((resolve) =>
            verify('sha256', input, options, signature, (error, holds) => resolve(error === null && holds)),
          ),
      )
    if ((await Promise.all(batch)).includes(false)) throw new Error('A signature does not hold')
  }
}
