/*
 * What a person does to one circuit: holds it open or closed for a time, or takes that off. It lies over what the circuit
 * has come to by itself, and is a token of its chain like any other change. Whoever waits behind a circuit that lets calls
 * go again is told so.
 */
import { Problem } from '@/lib/base/problem'
import { force, lift } from '@/lib/breaker/circuit'
import type { CircuitState } from '@/lib/breaker/terms'
import type { CircuitCache } from './circuit-cache'
import { again, change, decideInTurn } from './circuit-change'
import { type CircuitPorts, logFault } from './circuit-ports'
import type { CircuitEvent } from './circuit-tokens'

/** `until`: ms since the epoch. */
export interface Forcing {
  to: 'open' | 'closed'
  by: string
  reason: string
  until: number
}

/** Holds the circuit open or closed until then. Throws Problem `not_found`. */
export async function forceCircuit(
  ports: CircuitPorts,
  cache: CircuitCache,
  id: string,
  forced: Forcing,
): Promise<void> {
  await byPerson(ports, cache, id, (state, at) => ({
    next: force(state, { ...forced, since: at }),
    event: { type: 'circuit_forced', at, ...forced },
  }))
  if (forced.to === 'closed') await tellWaiting(ports, cache, id, forced.by)
}

/** Takes off what was forced. Throws Problem `not_found`, `run_moved_on` when nothing was. */
export async function liftCircuit(
  ports: CircuitPorts,
  cache: CircuitCache,
  id: string,
  { by, reason }: { by: string; reason: string },
): Promise<void> {
  await byPerson(ports, cache, id, (state, at) => {
    const next = lift(state)
    if (!next) throw new Problem('run_moved_on', 'Nothing is forced on this breaker.')
    return { next, event: { type: 'circuit_lifted', at, by, reason } }
  })
  await tellWaiting(ports, cache, id, by)
}

/** Whoever waits behind the circuit may ask again at once. Never throws: they ask by themselves later. */
export async function tellWaiting(
  ports: CircuitPorts,
  cache: CircuitCache,
  id: string,
  by: string,
): Promise<void> {
  const entry = await cache.openId(id).catch(() => undefined)
  if (!entry) return
  await ports.onFree?.(entry.name, by).catch((error: unknown) => logFault(ports, error, 'tell who waits'))
}

async function byPerson(
  ports: CircuitPorts,
  cache: CircuitCache,
  id: string,
  decide: (state: CircuitState, at: number) => { next: CircuitState; event: CircuitEvent },
): Promise<void> {
  const entry = await cache.openId(id)
  await decideInTurn(entry, async () => {
    const { next, event } = decide(entry.state, ports.timer.now())
    if (!(await change(ports, cache, entry, next, event, {}))) return again
  })
}
