import type { AgentProtocol } from '@/lib/base/protocols'
import type { PoolLimits } from '@/lib/pool/terms'

/** What an agent that speaks it can be asked. */
export const protocolWords: Record<AgentProtocol, string> = {
  holdpoint: 'signs its answers and claims tasks',
  atd: 'takes back in one phase (ATD)',
  cascade: 'votes before it takes back (cascade)',
  aerr: 'takes back and tells errors over plain HTTP (AERR)',
}

/** "at most 4 at once, 2 of one workflow, 10 waiting, 60 a minute"; what is not limited is not named. */
export function limitWords({
  connections,
  connectionsPerWorkflow,
  queuePerWorkflow,
  requestsPerMinute,
}: Partial<PoolLimits>): string {
  const words = [
    connections !== undefined && `${connections} at once`,
    connectionsPerWorkflow !== undefined && `${connectionsPerWorkflow} of one workflow`,
    queuePerWorkflow !== undefined && `${queuePerWorkflow} of it waiting`,
    requestsPerMinute !== undefined && `${requestsPerMinute} of it a minute`,
  ].filter((word) => word !== false)
  return words.length > 0 ? `at most ${words.join(', ')}` : 'the usual ones'
}

/** A whole number as it is typed; undefined for nothing, NaN for what is none. */
export function typedNumber(text: string): number | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  return /^\d{1,7}$/.test(trimmed) ? Number(trimmed) : Number.NaN
}
