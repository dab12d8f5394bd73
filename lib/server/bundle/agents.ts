/*
 * The agents of a bundle: their public keys, and what they signed themselves. A rollback that an agent did ends with the
 * agent's own signed answer, kept as a value that our token names; here it is held against that token, so that whoever
 * reads the bundle need not take our word for what the agent said (cascade section 7).
 */
import { z } from 'zod'
import { keysOfAgent } from '@/lib/auth/agents'
import { canonicalJson } from '@/lib/base/canonical-json'
import type { Hash } from '@/lib/base/hash'
import type { JsonObject } from '@/lib/base/json'
import { isProblem } from '@/lib/base/problem'
import type { Claims } from '@/lib/ect/claims'
import { unverifiedPayload } from '@/lib/ect/jws'
import { type Jwks, jwksOf, parseKeySet, type VerificationKeys } from '@/lib/ect/keys'
import { verifyTokenSync } from '@/lib/ect/verify-node'
import { meaningOf, readClaim } from '@/lib/ect/vocabulary'
import type { FactOf } from '@/lib/engine/facts'
import type { AgentStore } from '@/lib/store/agents'
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

const answerMaxBytes = 32_768

/** The agents whose own tokens are in the evidence, by id. */
export async function agentsIn({ runs, value }: Pick<Evidence, 'runs' | 'value'>): Promise<string[]> {
  const ids = new Set<string>()
  for (const run of runs) {
    for (const { fact } of run.notes) if (fact?.type === 'reported') ids.add(fact.agent)
    for (const { fact } of answersOf(run)) {
      const token = tokenIn(await value(fact.evidence))
      const iss = token && issuerOf(token)
      if (iss) ids.add(iss)
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

/** Says each answer of an agent that is not there, is not signed by it, or says something else than our token. */
export async function checkAgentAnswers(
  { runs, value }: Pick<Evidence, 'runs' | 'value'>,
  keys: ReadonlyMap<string, VerificationKeys>,
  say: (failure: BundleFailure) => void,
): Promise<void> {
  for (const run of runs) {
    for (const { seq, jti, fact } of answersOf(run)) {
      const wrong = wrongIn(fact, tokenIn(await value(fact.evidence)), keys)
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
  token: string | undefined,
  keys: ReadonlyMap<string, VerificationKeys>,
): string | undefined {
  if (token === undefined) return 'is not in the bundle as a token'
  const iss = issuerOf(token)
  const known = iss === undefined ? undefined : keys.get(iss)
  if (!known) return 'is signed by an agent whose keys are not in the bundle'
  let claims: Claims
  try {
    claims = verifyTokenSync(token, known, { mode: 'ledger' }).claims
  } catch (error) {
    if (isProblem(error)) return `does not verify: ${error.message}`
    throw error
  }
  if (meaningOf(claims.exec_act) !== 'rollback_result') return 'answers no rollback'
  const same = (name: string, said: string | undefined) =>
    said === undefined || readClaim(claims.ext, name) === said
  if (!same('status', fact.status)) return `says another status than "${fact.status}"`
  if (readClaim(claims.ext, 'checkpoint_id') === undefined) return 'names no checkpoint'
  if (!claims.par.some((jti) => fact.par.includes(jti))) return 'answers another request'
  return undefined
}

function tokenIn(bytes: Uint8Array | undefined): string | undefined {
  if (!bytes || bytes.length > answerMaxBytes) return undefined
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text) ? text : undefined
}

function issuerOf(token: string): string | undefined {
  try {
    const { iss } = unverifiedPayload(token)
    return typeof iss === 'string' ? iss : undefined
  } catch {
    return undefined
  }
}
