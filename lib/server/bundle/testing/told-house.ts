/*
 * A store with runs that were told and not run: facts become signed, chained, committed tokens, in a chosen order and at
 * chosen times, so that a test's bundle is the same each time. For what nobody would decide, too.
 */
import { generateKeyPairSync } from 'node:crypto'
import { canonicalJson } from '@/lib/base/canonical-json'
import { type Hash, sha256 } from '@/lib/base/hash'
import { type RunId, runIdOf, uuidOfText, widOf } from '@/lib/base/ids'
import { chainHashSync, firstPrevHashSync } from '@/lib/ect/chain-node'
import { jwksOf, keySetOf, type VerificationKeys } from '@/lib/ect/keys'
import { type SigningKey, signClaims, signHead } from '@/lib/ect/sign'
import { evolve, newRun } from '@/lib/engine/evolve'
import { claimsOf } from '@/lib/engine/fact-codec'
import type { Fact, FactBody } from '@/lib/engine/facts'
import { derivedMediaType, type LedgerRow, type ParentPlace, type SignedHead } from '@/lib/engine/ports'
import { projectionOf } from '@/lib/engine/projection'
import { memoryStore } from '@/lib/store/memory'
import type { Store } from '@/lib/store/store'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { indexGraph } from '@/lib/workflow/graph-index'
import { versionOf } from '@/lib/workflow/versions'
import { type BundleWish, gather } from '../gather'
import { planBundle } from '../write-bundle'

const iss = 'spiffe://holdpoint.local/holdpoint'
/** When the first token of each run is written unless the test says otherwise. */
export const toldAt = Date.UTC(2026, 10, 21, 9, 14, 31)

/** A fact, when it is (ms after the run's first), and what it follows besides the token before it. */
export type Told = FactBody & { after?: number; par?: string[] }

export function keyPair(kid: string): { key: SigningKey; keys: VerificationKeys } {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = pair.publicKey.export({ format: 'jwk' })
  return {
    key: { kid, alg: 'ES256', privateKey: pair.privateKey },
    keys: keySetOf([{ kid, alg: 'ES256', jwk: { kty: 'EC', crv: 'P-256', x, y } }]),
  }
}

export class ToldHouse {
  readonly store: Store
  readonly ours = keyPair('2026-11-21-ours')

  constructor(store: Store = memoryStore()) {
    this.store = store
  }

  /** Keeps a value; gives its hash. */
  async value(content: unknown, mediaType = 'application/json'): Promise<Hash> {
    const bytes =
      content instanceof Uint8Array
        ? content
        : Buffer.from(
            typeof content === 'string' && mediaType !== 'application/json'
              ? content
              : canonicalJson(content),
          )
    const hash = sha256(bytes)
    await this.store.ledger.putValue({ hash, mediaType, bytes })
    return hash
  }

  /** Keeps a graph as a version: of its text when there is one. */
  async workflow(graph: WorkflowGraph, text?: { source: string; mediaType: string }): Promise<Hash> {
    const version = versionOf(graph)
    await this.store.workflows.put({
      version,
      name: graph.name,
      description: graph.description,
      format: graph.format,
      source: text?.source ?? canonicalJson(graph),
      mediaType: text?.mediaType ?? derivedMediaType,
      importedAt: toldAt - 60_000,
      importedBy: 'person:ada',
      nodeCount: graph.nodes.length,
    })
    return version
  }

  /** Tells a run from its facts, a second from one to the next. The run's id follows from its name. */
  async run(
    name: string,
    graph: WorkflowGraph,
    told: readonly Told[],
    more: { parent?: ParentPlace; startedAt?: number; startedBy?: string } = {},
  ): Promise<RunId> {
    const runId = idOf(name)
    const wid = widOf(runId)
    const folded = newRun(indexGraph(graph))
    const rows: LedgerRow[] = []
    const heads: SignedHead[] = []
    let prevHash = firstPrevHashSync(wid)
    for (const [index, { after, par, ...body }] of told.entries()) {
      const at = (more.startedAt ?? toldAt) + (after ?? index * 1000)
      const before = rows.at(-1)?.jti
      const fact = { ...body, jti: jtiOf(name, index + 1), at, par: par ?? (before ? [before] : []) } as Fact
      const token = signClaims(
        claimsOf(fact, { iss, aud: iss, wid, vocabulary: graph.vocabulary }),
        this.ours.key,
      )
      const hash = chainHashSync(prevHash, token)
      rows.push({ runId, seq: index + 1, jti: fact.jti, token, prevHash, hash })
      prevHash = hash
      evolve(folded, fact)
      if (fact.type === 'workflow_complete' || (index + 1) % 1000 === 0) {
        const iat = Math.floor(at / 1000)
        heads.push({ seq: index + 1, jws: signHead({ wid, seq: index + 1, hash, iat }, this.ours.key) })
      }
    }
    const version = versionOf(graph)
    const { parent, startedBy = 'person:ada' } = more
    const create = { runId, wid, version, workflowName: graph.name, startedBy, ...(parent && { parent }) }
    for (let from = 0; from < rows.length; from += 5_000) {
      const page = rows.slice(from, from + 5_000)
      await this.store.ledger.commit({
        runId,
        ...(from === 0 && { create }),
        expectedSeq: from,
        rows: page,
        heads: heads.filter(({ seq }) => seq > from && seq <= from + page.length),
        values: [],
        checkpoints: [],
        projection: projectionOf(folded, toldAt),
        approvals: [],
      })
    }
    return runId
  }

  /** The bundle of a run. */
  async bundle(runId: RunId, wish: BundleWish = {}, key = this.ours.key): Promise<Buffer> {
    const gathered = await gather(runId, { store: this.store, keys: jwksOf(this.ours.keys) }, wish)
    const planned = await planBundle(gathered, this.store.ledger, key)
    const pieces: Uint8Array[] = []
    for await (const piece of planned.stream()) pieces.push(piece)
    return Buffer.concat(pieces)
  }
}

/** The id that a told run has. */
export function idOf(name: string): RunId {
  return runIdOf(uuidOfText(`told ${name}`))
}

/** The n-th token of a told run. */
export function jtiOf(name: string, seq: number): string {
  return uuidOfText(`told ${name} ${seq}`)
}
