/*
 * Runs that are large or odd, written straight into a data folder: signed tokens, chain, heads, values and the rows of
 * lists, as a worker would have left them. Nothing of them is done; their facts are the engine's own.
 *
 *   long   50,000 transitions between 50 states, with artifacts, taken back whenever a walk may go no further
 *   wide   2,000 states
 *   odd    values of 20 MB, markup, braces, bytes, letters that run the other way, nothing at all; acts, steps and ends
 *          that no version of today knows
 */
import { mintUuid, type RunId, runIdOf } from '@/lib/base/ids'
import { chainHashSync, firstPrevHashSync } from '@/lib/ect/chain-node'
import { HEAD_EVERY_TOKENS } from '@/lib/ect/head'
import type { Command } from '@/lib/engine/commands'
import { decide } from '@/lib/engine/decide'
import { evolve, newRun } from '@/lib/engine/evolve'
import { claimsOf } from '@/lib/engine/fact-codec'
import type { Fact } from '@/lib/engine/facts'
import type { LedgerRow, RunHeader, SignedHead } from '@/lib/engine/ports'
import { projectionOf } from '@/lib/engine/projection'
import type { Installation } from '@/lib/server/installation'
import { keepDerived } from '@/lib/server/workflows'
import { jsonValue } from '@/lib/worker/values'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { indexGraph } from '@/lib/workflow/graph-index'
import type { History, UnknownAct } from './history'
import { oddHistory } from './odd-history'
import { walkHistory } from './walk-history'

export interface WrittenRun {
  run: RunId
  tokens: number
}

/** Rows of one commit. */
const rowsPerCommit = 4_000
/** Tokens signed side by side. */
const signedAtOnce = 256
const by = 'person:ada'

/** A run of so many entries of so many states, over. */
export function writeWalk(
  installation: Installation,
  { transitions, states, seed = 1 }: { transitions: number; states: number; seed?: number },
): Promise<WrittenRun> {
  const { graph, facts } = walkHistory(transitions, states, seed)
  const output = jsonValue({ went: 'on' })
  const input = jsonValue({ content: 'bench' })
  const written = new Set(facts.flatMap((fact) => (fact.type === 'artifact_set' ? [fact.value] : [])))
  const values = Array.from({ length: transitions }, (_, at) => jsonValue(at + 1))
  const whole = facts.map((fact): Fact => {
    if (fact.type === 'workflow_start') return { ...fact, input: input.hash }
    return fact.type === 'task_complete' ? { ...fact, output: output.hash } : fact
  })
  return writeRun(installation, {
    graph,
    facts: [...whole, ...endOf(graph, whole)],
    values: [input, output, ...values.filter(({ hash }) => written.has(hash))],
  })
}

/** The small run that holds whatever a run should not. */
export function writeOdd(installation: Installation, largeBytes: number): Promise<WrittenRun> {
  return writeRun(installation, oddHistory(largeBytes))
}

/** What lets no worker go on with a walk: somebody stops it. */
function endOf(graph: WorkflowGraph, facts: readonly Fact[]): Fact[] {
  const run = newRun(indexGraph(graph))
  for (const fact of facts) evolve(run, fact)
  const more: Fact[] = []
  const commands: Command[] = [{ type: 'cancel', by, reason: 'It went far enough' }, { type: 'finish' }]
  for (const command of commands) {
    for (const fact of decide(run, command, { now: run.lastAt + 1_000, mint: mintUuid, chance: 0 }).facts) {
      evolve(run, fact)
      more.push(fact)
    }
  }
  return more
}

/** Writes a run as it is, a commit for every few thousand tokens. Durable when it resolves. */
async function writeRun(installation: Installation, history: History): Promise<WrittenRun> {
  const { ledger } = installation.store
  const { graph, facts, values } = history
  const version = await keepDerived(installation, graph, by)
  const wid = mintUuid()
  const runId = runIdOf(wid)
  const header: RunHeader = { runId, wid, version, workflowName: graph.name, startedBy: by }
  const run = newRun(indexGraph(graph))
  for (const value of values) if (value.bytes.length > 100_000) await ledger.putValue(value)
  const small = values.filter(({ bytes }) => bytes.length <= 100_000)
  const ledgerRows = chained(installation, wid, withVersion(facts, version))
  let seq = 0
  for await (const { rows, heads, batch } of ledgerRows) {
    for (const fact of batch) if (isFact(fact)) evolve(run, fact)
    await ledger.commit({
      runId,
      ...(seq === 0 && { create: header }),
      expectedSeq: seq,
      rows,
      heads,
      values: small.splice(0, seq + rows.length === facts.length ? small.length : rowsPerCommit),
      checkpoints: [],
      projection: { ...projectionOf(run, run.lastAt), dueAt: null },
      approvals: [],
    })
    seq += rows.length
  }
  return { run: runId, tokens: seq }
}

function withVersion(facts: readonly (Fact | UnknownAct)[], version: string): (Fact | UnknownAct)[] {
  return facts.map((fact) => (isFact(fact) && fact.type === 'workflow_start' ? { ...fact, version } : fact))
}

function isFact(one: Fact | UnknownAct): one is Fact {
  return 'type' in one
}

async function* chained(installation: Installation, wid: string, facts: readonly (Fact | UnknownAct)[]) {
  const runId = runIdOf(wid)
  const { signer } = installation.ports
  const frame = { iss: signer.iss, aud: signer.aud, wid, vocabulary: 'atd' } as const
  let before: Pick<Fact, 'at' | 'jti'> = { at: 0, jti: wid }
  let prevHash = firstPrevHashSync(wid)
  for (let from = 0; from < facts.length; from += rowsPerCommit) {
    const batch = facts.slice(from, from + rowsPerCommit)
    const rows: LedgerRow[] = []
    const heads: SignedHead[] = []
    for (let at = 0; at < batch.length; at += signedAtOnce) {
      const claims = batch.slice(at, at + signedAtOnce).map((one) => {
        if (isFact(one)) {
          before = one
          return claimsOf(one, frame)
        }
        const iat = Math.floor(before.at / 1000)
        const { iss, aud } = frame
        const par = [before.jti]
        return { iss, aud, iat, exp: iat + 600, jti: mintUuid(), wid, exec_act: one.act, par, ext: one.ext }
      })
      const tokens = await Promise.all(claims.map((one) => signer.sign(one)))
      for (const [index, token] of tokens.entries()) {
        const hash = chainHashSync(prevHash, token)
        const seq = from + rows.length + 1
        rows.push({ runId, seq, jti: claims[index]?.jti ?? '', token, prevHash, hash })
        prevHash = hash
        if (seq % HEAD_EVERY_TOKENS !== 0 && seq !== facts.length) continue
        heads.push({ seq, jws: signer.signHead({ wid, seq, hash, iat: claims[index]?.iat ?? 0 }) })
      }
    }
    yield { rows, heads, batch }
  }
}
