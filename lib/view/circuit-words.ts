/*
 * Breakers in words: who calls and who is called, as people name them, and what a circuit has come to. The shape that
 * goes with each word is in components/breakers/breaker-mark.tsx.
 */
import type { CircuitStatus } from '@/lib/breaker/terms'

/** How a breaker stands, as screens tell it: what a person forced comes before what was calculated. */
export type ShownBreaker = CircuitStatus | 'forced_open' | 'forced_closed'

export const breakerWords: Record<ShownBreaker, string> = {
  closed: 'closed',
  open: 'open',
  half_open: 'half-open',
  forced_open: 'forced open',
  forced_closed: 'forced closed',
}

/** Of a circuit whose window holds no call: nothing is known of it now, whatever its last rate was. */
export function noCallsWords(windowS: number): string {
  return `no calls in the last ${windowS === 60 ? 'minute' : `${windowS} s`}`
}

/** What kind of thing it is: "agent", "workflow", "model backend", "MCP server", "host". */
export function partyKind(party: string): string {
  if (party.startsWith('spiffe://')) return 'agent'
  const kind = /^(workflow|backend|mcp|host):/.exec(party)?.[1] ?? ''
  return { workflow: 'workflow', backend: 'model backend', mcp: 'MCP server', host: 'host' }[kind] ?? 'caller'
}
