/*
 * A circuit's tokens: how each change of it is spelled in claims, and how it is read back. The state in the circuit's row
 * is the fold of these; whoever has the chain alone comes to the same (`foldCircuit`).
 */
import { isJsonObject, type JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import type { CircuitState } from '@/lib/breaker/terms'
import type { Claims } from '@/lib/ect/claims'
import { claimName, meaningOf, readClaim, spell, type Vocabulary } from '@/lib/ect/vocabulary'
import type { CircuitName } from '@/lib/engine/circuit-ports'

/** What happened to a circuit. `at` and `until` are ms since the epoch. */
export type CircuitEvent = { at: number; run?: string; node?: string } & (
  | {
      type: 'circuit_open'
      errorRate: number
      calls: number
      failures: number
      windowS: number
      cooldownS: number
      until: number
      reopened: number
      lastFailureAt?: number
    }
  | {
      type: 'circuit_probe'
      probe: string
      cooldownS: number
      until: number
      reopened: number
      /** The person who had it go; absent: it was the next call. */
      by?: string
    }
  | { type: 'circuit_close'; cooldownS: number }
  | { type: 'circuit_forced'; to: 'open' | 'closed'; by: string; reason: string; until: number }
  | { type: 'circuit_lifted'; by: string; reason: string }
)

/** Two years, like the tokens of runs: how long it serves is not for `exp` to say. */
const lifetimeS = 2 * 365 * 24 * 3600

/** Members of an event and the claims that carry them. */
const claims: Record<string, string> = {
  errorRate: 'error_rate',
  calls: 'calls',
  failures: 'failures',
  windowS: 'window_s',
  cooldownS: 'cooldown_s',
  until: 'until',
  reopened: 'reopened',
  lastFailureAt: 'last_failure_at',
  probe: 'probe',
  to: 'to',
  by: 'by',
  reason: 'reason',
  run: 'run',
  node: 'node',
}

/** The claims of a change, `par` = the token before it in the chain. */
export function claimsOfEvent(
  event: CircuitEvent,
  { id, wid, caller, downstream }: CircuitName,
  frame: { iss: string; aud: string; jti: string; par: string[]; vocabulary: Vocabulary },
): Claims {
  const { iss, aud, jti, par, vocabulary } = frame
  const iat = Math.floor(event.at / 1000)
  const named = (name: string) => claimName(name, vocabulary)
  const ext: JsonObject = { [named('downstream_agent')]: downstream }
  for (const [member, value] of Object.entries(event)) {
    const claim = claims[member]
    if (claim !== undefined && value !== undefined) ext[named(claim)] = value
  }
  ext[named('caller')] = caller
  ext[named('circuit')] = id
  ext[named('ms')] = event.at % 1000
  return { iss, aud, iat, exp: iat + lifetimeS, jti, wid, exec_act: spell(event.type, vocabulary), par, ext }
}

/** The change that a token states. Throws Problem `ect_claim_invalid` when it states none. */
export function eventOfClaims({ exec_act, iat, ext }: Claims): CircuitEvent {
  const type = meaningOf(exec_act) as CircuitEvent['type'] | undefined
  const needed = type !== undefined && Object.hasOwn(members, type) ? members[type] : undefined
  if (type === undefined || !needed || !isJsonObject(ext)) {
    throw new Problem(
      'ect_claim_invalid',
      `"exec_act" is "${exec_act.slice(0, 60)}", which no circuit does`,
      {
        claim: 'exec_act',
      },
    )
  }
  const ms = readClaim(ext, 'ms')
  const event: Record<string, unknown> = { type, at: iat * 1000 + (typeof ms === 'number' ? ms : 0) }
  const mayBe = type === 'circuit_probe' ? { ...optional, by: 'string' } : optional
  for (const [member, shape] of Object.entries({ ...needed, ...mayBe })) {
    const value = readClaim(ext, claims[member] as string)
    if (value === undefined && Object.hasOwn(mayBe, member)) continue
    if (typeof value !== shape) {
      const claim = claims[member] as string
      throw new Problem('ect_claim_invalid', `The claim "${claim}" of a "${exec_act}" is no ${shape}`, {
        claim,
      })
    }
    event[member] = value
  }
  return event as unknown as CircuitEvent
}

const members = {
  circuit_open: {
    errorRate: 'number',
    calls: 'number',
    failures: 'number',
    windowS: 'number',
    cooldownS: 'number',
    until: 'number',
    reopened: 'number',
  },
  circuit_probe: { probe: 'string', cooldownS: 'number', until: 'number', reopened: 'number' },
  circuit_close: { cooldownS: 'number' },
  circuit_forced: { to: 'string', by: 'string', reason: 'string', until: 'number' },
  circuit_lifted: { by: 'string', reason: 'string' },
} as const

const optional = { lastFailureAt: 'number', run: 'string', node: 'string' } as const

/** What happened between two states of a circuit, of which the second follows from the first by one step. */
export function eventBetween(before: CircuitState, after: CircuitState, windowS: number): CircuitEvent {
  const { calculated } = after
  switch (calculated.status) {
    case 'open': {
      const { since, status: _, ...opened } = calculated
      const { lastFailureAt } = after
      return {
        type: 'circuit_open',
        at: since,
        ...opened,
        errorRate: Math.round(opened.errorRate * 10_000) / 10_000,
        windowS,
        ...(lastFailureAt !== undefined && { lastFailureAt }),
      }
    }
    case 'half_open': {
      const { since, probe, cooldownS, until, reopened } = calculated
      return { type: 'circuit_probe', at: since, probe, cooldownS, until, reopened }
    }
    case 'closed': {
      const former = before.calculated
      return {
        type: 'circuit_close',
        at: calculated.since,
        cooldownS: former.status === 'closed' ? 0 : former.cooldownS,
      }
    }
  }
}

/** What a circuit is after all that happened to it, in order; it began closed. */
export function foldCircuit(events: readonly CircuitEvent[]): CircuitState {
  let state: CircuitState = { calculated: { status: 'closed', since: events[0]?.at ?? 0 } }
  for (const event of events) state = evolveCircuit(state, event)
  return state
}

function evolveCircuit(state: CircuitState, event: CircuitEvent): CircuitState {
  const { at } = event
  switch (event.type) {
    case 'circuit_open': {
      const { errorRate, calls, failures, cooldownS, until, reopened, lastFailureAt } = event
      return {
        ...state,
        calculated: { status: 'open', since: at, until, cooldownS, reopened, errorRate, calls, failures },
        ...(lastFailureAt !== undefined && { lastFailureAt }),
        ...(state.calculated.status === 'half_open' && { lastProbe: { at, ok: false } }),
      }
    }
    case 'circuit_probe': {
      const { probe, until, cooldownS, reopened } = event
      return { ...state, calculated: { status: 'half_open', since: at, probe, until, cooldownS, reopened } }
    }
    case 'circuit_close':
      return { ...state, calculated: { status: 'closed', since: at }, lastProbe: { at, ok: true } }
    case 'circuit_forced': {
      const { to, by, reason, until } = event
      return { ...state, forced: { to, by, reason, since: at, until } }
    }
    case 'circuit_lifted': {
      const { forced: _, ...rest } = state
      return rest
    }
  }
}
