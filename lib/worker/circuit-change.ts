/*
 * A change of a circuit, made durable: one signed token, chained to the one before, and the row that is the fold of them,
 * in one commit at the revision that it was decided at. Of all processes that decide at once one gets through; the others
 * read what it wrote and decide again (`decideInTurn`).
 */
import { isProblem, Problem } from '@/lib/base/problem'
import type { CircuitChange, CircuitState } from '@/lib/breaker/terms'
import { chainHashSync } from '@/lib/ect/chain-node'
import type { CircuitCommit, CircuitHold, CircuitToken } from '@/lib/engine/circuit-ports'
import type { CircuitCache } from './circuit-cache'
import type { Entry } from './circuit-entry'
import type { CallingStep, CircuitPorts } from './circuit-ports'
import { type CircuitEvent, claimsOfEvent } from './circuit-tokens'

/** Somebody writes without end. */
const fenceAttempts = 50

/** Others were quicker: the circuit is as they left it, to decide again. */
export const again = Symbol('again')

/** Decides after whatever else changes the circuit here, as often as others change it meanwhile. Throws Problem `store_busy`. */
export function decideInTurn<T>(entry: Entry, decide: () => Promise<T | typeof again>): Promise<T> {
  const decided = entry.turn.then(async () => {
    for (let attempt = 1; attempt <= fenceAttempts; attempt++) {
      const answer = await decide()
      if (answer !== again) return answer
    }
    throw new Problem('store_busy', 'The breaker is changed without end by others; try again in a moment')
  })
  entry.turn = decided.catch(() => undefined)
  return decided
}

/** What came of a change that stands. */
export interface Changed {
  /** A probe failed that a person had let go: probes are held again, and people are to be asked. */
  heldAgain?: CircuitHold
}

/** Makes the change durable. Undefined when another process was quicker: the entry is as it left it, to decide again. */
export async function change(
  ports: Pick<CircuitPorts, 'store' | 'signer' | 'mint' | 'timer'>,
  cache: CircuitCache,
  entry: Entry,
  next: CircuitState,
  event: CircuitEvent,
  who: CallingStep,
): Promise<Changed | undefined> {
  const { name, revision, policy, state: before } = entry
  const at = ports.timer.now()
  const row = await tokenOf(ports, entry, event, who, at)
  const probeFailed = before.calculated.status === 'half_open' && next.calculated.status === 'open'
  const commit: CircuitCommit = {
    circuit: name,
    expectedRevision: revision,
    state: { ...next, policy },
    tokens: [row],
    at,
    ...(probeFailed && { holdAgain: { runId: who.runId } }),
  }
  const made = await ports.store.commit(commit).catch((error: unknown) => {
    if (!isProblem(error, 'sequence_taken')) throw error
  })
  if (!made) {
    await cache.reread(entry)
    return undefined
  }
  if (next.calculated.status === 'closed' && before.calculated.status !== 'closed') entry.window.reset()
  entry.state = next
  entry.revision = revision + 1
  entry.lastHash = row.hash
  entry.lastToken = row.jti
  if (made.heldAgain) cache.setHold(made.heldAgain)
  if (before.calculated !== next.calculated) who.changed?.(changeOf(entry, before))
  return made
}

/** The next token of the circuit's chain. */
async function tokenOf(
  { signer, mint }: Pick<CircuitPorts, 'signer' | 'mint'>,
  { name, revision, lastHash, lastToken }: Entry,
  event: CircuitEvent,
  { runId, node = '', by, vocabulary = 'atd' }: CallingStep,
  at: number,
): Promise<CircuitToken> {
  const jti = mint()
  const said: CircuitEvent = { ...event, ...(runId !== undefined && { run: runId, node }) }
  if (said.type === 'circuit_probe' && by !== undefined) said.by = by
  const par = lastToken === '' ? [] : [lastToken]
  const frame = { iss: signer.iss, aud: signer.aud, jti, par, vocabulary }
  const token = await signer.sign(claimsOfEvent(said, name, frame))
  const hash = chainHashSync(lastHash, token)
  return { circuitId: name.id, seq: revision + 1, jti, token, prevHash: lastHash, hash, at }
}

/** A change as the run whose call made it records it. */
function changeOf({ name, state, policy, lastToken }: Entry, before: CircuitState): CircuitChange {
  const { calculated } = state
  const former = before.calculated
  const named = {
    circuit: name.id,
    caller: name.caller,
    downstream: name.downstream,
    windowS: policy.windowS,
    change: lastToken,
  }
  if (calculated.status === 'closed') {
    const cooldownS = former.status === 'closed' ? 0 : former.cooldownS
    const none = { errorRate: 0, calls: 0, failures: 0, reopened: 0 }
    return { ...named, ...none, to: 'closed', cooldownS, until: calculated.since }
  }
  const counted = calculated.status === 'open' ? calculated : former.status === 'open' ? former : undefined
  const { errorRate = 0, calls = 0, failures = 0 } = counted ?? {}
  const { status: to, cooldownS, until, reopened } = calculated
  return { ...named, to, errorRate, calls, failures, cooldownS, until, reopened }
}
