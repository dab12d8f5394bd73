import { Refusal, type Values } from '../agents/kit/answers'
import type { Breaker } from '../agents/kit/breaker'
import type { Served } from '../agents/serve'

/** What an agent of the lab is made with. */
export interface Place {
  /** Its own folder. */
  folder: string
  /** Where another agent of the lab listens. */
  baseUrlOf(name: string): string
  /** The breakers of what it calls itself. */
  calls: Breaker
}

/** Makes an agent in its place; its state file is there when this resolves. */
export type LabAgent = (place: Place) => Promise<Served>

/** The SPIFFE id of an agent of the lab. */
export function labId(name: string): string {
  return `spiffe://holdpoint.local/agent/${name}`
}

/** An operation that did not work for a reason beyond the agent. */
export function failed(code: string, sentence: string, more: Values = {}): Refusal {
  return new Refusal(502, code, sentence, { error_type: 'action_failed', ...more })
}

/** What another agent of the lab answers to a GET, through the breaker; undefined when it does not answer. */
export async function seenAt(
  place: Place,
  name: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Values } | undefined> {
  const ask = async () => {
    const url = new URL(path, place.baseUrlOf(name))
    const signal = AbortSignal.timeout(5_000)
    const answer = await fetch(url, { headers, redirect: 'error', signal })
    return { status: answer.status, body: (await answer.json()) as Values }
  }
  try {
    return await place.calls.through(labId(name), ask)
  } catch {
    return undefined
  }
}
