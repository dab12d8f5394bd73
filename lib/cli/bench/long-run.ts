/*
 * A run with a long history, made by the engine's own rules: a thousand consequential steps in twenty layers, each
 * tried many times before it succeeds, so that its tokens have the sizes and the parents that tokens of runs have.
 */
import { mintUuid, runIdOf } from '@/lib/base/ids'
import { chainHashSync, firstPrevHashSync } from '@/lib/ect/chain-node'
import { HEAD_EVERY_TOKENS } from '@/lib/ect/head'
import type { LedgerEntry, LedgerHead } from '@/lib/ect/ledger-verify'
import { type SigningKey, signHead } from '@/lib/ect/sign'
import { SigningThreads } from '@/lib/ect/signing-threads'
import type { ActionRef, Command } from '@/lib/engine/commands'
import { decide } from '@/lib/engine/decide'
import { evolve, newRun } from '@/lib/engine/evolve'
import { claimsOf } from '@/lib/engine/fact-codec'
import type { Fact } from '@/lib/engine/facts'
import { type GraphIndex, indexGraph } from '@/lib/workflow/graph-index'

const layers = 20
const width = 50
/** A run may take 10,000 checkpoints: these attempts of a step have a checkpoint and three tokens, later ones two. */
const attemptsWithCheckpoint = 9
const someHash = 'A'.repeat(43)

export interface LongRun {
  wid: string
  graph: GraphIndex
  facts: Fact[]
}

/** About so many facts, from the start of the run to its end. */
export function longRun(tokens: number): LongRun {
  const perNode = tokens / (layers * width)
  const attempts = Math.max(1, Math.round(perNode / 3), Math.round((perNode - attemptsWithCheckpoint) / 2))
  const graph = layered(attempts)
  const run = newRun(graph)
  const facts: Fact[] = []
  let now = Date.UTC(2026, 10, 21)
  const grant = (command: Command) => {
    now += 7
    for (const fact of decide(run, command, { now, mint: mintUuid, chance: 0.5 }).facts) {
      evolve(run, fact)
      facts.push(fact)
    }
  }
  grant({ type: 'start', version: someHash, input: someHash, by: 'person:bench', dryRun: false })
  for (const node of graph.order) {
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const isChecked = attempt <= attemptsWithCheckpoint
      const action: ActionRef = isChecked ? actionOf(node) : { ...actionOf(node), consequence: 'read_only' }
      const checkpoint = isChecked ? taken(node) : undefined
      grant({ type: 'begin', node, visit: 1, action, timeoutS: 30, checkpoint })
      if (attempt === attempts) grant({ type: 'succeeded', node, visit: 1, attempt, output: someHash })
      else grant({ type: 'failed', node, visit: 1, attempt, failure })
    }
  }
  grant({ type: 'finish' })
  return { wid: mintUuid(), graph, facts }
}

/** The run's ledger: signed, chained, with its heads. */
export async function signedLedger(
  { wid, facts }: LongRun,
  key: SigningKey,
): Promise<{ rows: LedgerEntry[]; heads: LedgerHead[] }> {
  const iss = 'spiffe://holdpoint.local/holdpoint'
  const frame = { iss, aud: iss, wid, vocabulary: 'atd' } as const
  const rows: LedgerEntry[] = []
  const heads: LedgerHead[] = []
  const threads = new SigningThreads()
  let prevHash = firstPrevHashSync(wid)
  for (let from = 0; from < facts.length; from += 256) {
    const batch = facts.slice(from, from + 256)
    const tokens = await Promise.all(batch.map((fact) => threads.sign(claimsOf(fact, frame), key)))
    for (const [index, token] of tokens.entries()) {
      const hash = chainHashSync(prevHash, token)
      const seq = rows.push({ seq: rows.length + 1, token, prevHash, hash, jti: batch[index]?.jti })
      prevHash = hash
      if (seq % HEAD_EVERY_TOKENS !== 0 && seq !== facts.length) continue
      heads.push({ seq, jws: signHead({ wid, seq, hash, iat: 1 }, key) })
    }
  }
  await threads.close()
  return { rows, heads }
}

function layered(attempts: number): GraphIndex {
  const id = (layer: number, at: number) => `n-${layer}-${at % width}`
  const places = Array.from({ length: layers * width }, (_, n) => [Math.floor(n / width), n % width] as const)
  const retry = { maxAttempts: attempts, baseMs: 1, factor: 1, maxMs: 1, jitter: 0 }
  return indexGraph({
    name: runIdOf(mintUuid()),
    description: 'Twenty layers of fifty steps',
    format: 'atd',
    order: 'topological',
    vocabulary: 'atd',
    nodes: places.map(([layer, at]) => ({
      id: id(layer, at),
      label: `Step ${at} of layer ${layer}`,
      kind: 'write_file',
      config: {},
      priority: 'normal',
      retry,
      extra: {},
    })),
    edges: places
      .filter(([layer]) => layer > 0)
      .flatMap(([layer, at]) =>
        [at, at + 1].map((from) => ({ from: id(layer - 1, from), to: id(layer, at), extra: {} })),
      ),
    starts: [],
    artifacts: [],
    budget: {},
    policy: { roots: [], privateTargets: [] },
    rules: [],
    extra: {},
  })
}

function actionOf(node: string): ActionRef {
  const target = `configs/${node}.conf`
  return {
    hash: someHash,
    consequence: 'reversible',
    target,
    sentence: `Replace ${target} with 30 bytes`,
    reads: [],
  }
}

function taken(node: string) {
  const { target, sentence } = actionOf(node)
  return {
    jti: mintUuid(),
    snapshot: someHash,
    reversible: true,
    rollbackUri: 'http://localhost:3000/.well-known/atd/rollback',
    target,
    description: sentence,
    ttlS: 86_400,
    undo: 'restore',
  } as const
}

const failure = {
  severity: 'error',
  errorType: 'action_failed',
  code: 'bench',
  description: 'The step failed, as it was told to',
  retriable: true,
} as const
