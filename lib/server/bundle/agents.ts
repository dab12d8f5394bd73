/*
 * The agents of a bundle: their public keys, and what they signed themselves. A rollback that an agent did ends with the
 * agent's own signed answer, kept as a value that our token names; here it is held against that token, so that whoever
 * reads the bundle need not take our word for what the agent said (cascade section 7).
 */
import { z } from 'zod'
import { keysOfAgent } from '@/lib/auth/agents'
import { canonicalJson } from '@/lib/base/canonical-json'
import { type Hash, sha256 } from '@/lib/base/hash'
import { isJsonObject, type JsonObject } from '@/lib/base/json'
import { isProblem } from '@/lib/base/problem'
import type { Claims } from '@/lib/ect/claims'
import { type Jwks, jwksOf, parseKeySet, type VerificationKeys } from '@/lib/ect/keys'
import { verifyTokenSync } from '@/lib/ect/verify-node'
import { meaningOf, readClaim } from '@/lib/ect/vocabulary'
import type { FactOf } from '@/lib/engine/facts'
import type { AgentStore } from '@/lib/store/agents'
import type { RollbackEvidence } from '@/lib/view/rollback-wire'
import { agentsEntry, runEntries } from './bundle'
import { type BundleFailure, doubt } from './doubt'
import type { Evidence, RunEvidence } from './evidence'
import { jsonOf } from './manifest-shape'

/** The public keys of agents, former ones too, by SPIFFE id; agents that are not known are left out. */
export type AgentKeys = (ids: readonly string[]) => Promise<ReadonlyMap<string, Jwks>>

/** The keys of registered agents, removed ones too. */
export function registeredKeys(agents: Pick<AgentStore, 'get'>): AgentKeys {
  return async (ids) => {
    const found = new Map<string, Jwks>()
    for (const id of ids) {
      const agent = await agents.get(id)
      if (agent) found.set(id, jwksOf(keysOfAgent(agent)))
    }
    return found
  }
}

type Said = FactOf<'rollback_act_result'> & { evidence: Hash }

/** An answer's body and its token. */
const keptMaxBytes = 2_200_000

/** The agents whose own tokens are in the evidence, by id. */
export async function agentsIn({ runs, value }: Pick<Evidence, 'runs' | 'value'>): Promise<string[]> {
  const ids = new Set<string>()
  for (const run of runs) {
    for (const { fact } of run.notes) if (fact?.type === 'reported') ids.add(fact.agent)
    for (const { fact } of answersOf(run)) {
      const kept = keptIn(await value(fact.evidence))
      if (kept) ids.add(kept.agent)
    }
  }
  return [...ids].sort()
}

/** The entry that holds their keys. */
export function agentsText(keys: ReadonlyMap<string, Jwks>): string {
  const agents = [...keys].map(([id, jwks]) => ({ id, jwks: { keys: [...jwks.keys] } }))
  return canonicalJson({ agents } as unknown as JsonObject)
}

const shape = z.object({
  agents: z.array(z.object({ id: z.string().min(1).max(1000), jwks: z.unknown() })).max(10_000),
})

/** Reads that entry. Throws Doubt for what is none. */
export function agentKeysIn(content: Uint8Array): Map<string, VerificationKeys> {
  const parsed = shape.safeParse(jsonOf(agentsEntry, content))
  if (!parsed.success) return doubt(agentsEntry, `The entry "${agentsEntry}" does not list agents with keys`)
  try {
    return new Map(parsed.data.agents.map(({ id, jwks }) => [id, parseKeySet(jwks)]))
  } catch (error) {
    if (!isProblem(error)) throw error
    return doubt(agentsEntry, `The keys of an agent cannot be used: ${error.message}`)
  }
}

/** What agents signed themselves and is in the evidence: answers to rollbacks, and tokens that they reported. */
export function signedByAgents({ runs }: Pick<Evidence, 'runs'>): number {
  return runs.reduce(
    (sum, run) =>
      sum + answersOf(run).length + run.notes.filter(({ fact }) => fact?.type === 'reported').length,
    0,
  )
}

/** Says each answer of an agent that is not there, is not signed by it, or says something else than our token. */
export async function checkAgentAnswers(
  { runs, value }: Pick<Evidence, 'runs' | 'value'>,
  keys: ReadonlyMap<string, VerificationKeys>,
  say: (failure: BundleFailure) => void,
): Promise<void> {
  for (const run of runs) {
    for (const { seq, jti, fact } of answersOf(run)) {
      const wrong = wrongIn(fact, keptIn(await value(fact.evidence)), keys)
      if (wrong === undefined) continue
      say({
        entry: runEntries(run.run).ledger,
        seq,
        jti,
        code: 'bundle_claim_false',
        sentence: `Token ${seq} of ${run.run} names an agent’s own answer for ${fact.node.slice(0, 80)}, which ${wrong}.`,
      })
    }
  }
}

function answersOf({ notes }: RunEvidence): { seq: number; jti: string; fact: Said }[] {
  return notes.flatMap(({ seq, jti, fact }) =>
    fact?.type === 'rollback_act_result' && fact.evidence !== undefined
      ? [{ seq, jti, fact: fact as Said }]
      : [],
  )
}

/** What is wrong with the answer, as the rest of a sentence; undefined when it holds. */
function wrongIn(
  fact: Said,
  kept: RollbackEvidence | undefined,
  keys: ReadonlyMap<string, VerificationKeys>,
): string | undefined {
  if (!kept) return 'is not in the bundle'
  const known = keys.get(kept.agent)
  if (!known) return 'is signed by an agent whose keys are not in the bundle'
  let claims: Claims
  try {
    claims = verifyTokenSync(kept.token, known, { mode: 'ledger' }).claims
  } catch (error) {
    if (isProblem(error)) return `does not verify: ${error.message}`
    throw error
  }
  if (claims.iss !== kept.agent) return 'is signed by another agent than it names'
  if (!claims.par.includes(kept.request) || !fact.par.includes(kept.request)) return 'answers another request'
  const status = statusIn(claims, kept.body)
  if (status !== fact.status) return `does not say "${fact.status}"`
  return undefined
}

/** What the agent said: in its result token, or in the body that its token vouches for. */
function statusIn({ exec_act: act, ext, out_hash: outHash }: Claims, body: string | undefined): unknown {
  if (meaningOf(act) === 'rollback_result') return readClaim(ext, 'status')
  if (body === undefined || outHash !== sha256(body)) return undefined
  try {
    const said: unknown = JSON.parse(body)
    return isJsonObject(said) ? said.status : undefined
  } catch {
    return undefined
  }
}

const keptShape = z.object({
  agent: z.string().min(1).max(1000),
  request: z.string().min(1).max(100),
  token: z.string().regex(/^[\w-]+\.[\w-]+\.[\w-]+$/),
  body: z.string().optional(),
})

function keptIn(bytes: Uint8Array | undefined): RollbackEvidence | undefined {
  if (!bytes || bytes.length > keptMaxBytes) return undefined
  try {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
    return keptShape.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
