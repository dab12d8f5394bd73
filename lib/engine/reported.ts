/*
 * What agents outside say in tokens of their own (ATD sections 3 to 5, cascade section 4). Only what the two drafts name
 * is understood. A foreign token that spells one of our own acts or claims (`hp:…`, `hp.…`) says nothing by it: its act
 * is a step's name like any other, and the claim is not read. Its time is its `iat`, to the second.
 */
import { clip } from '@/lib/base/clip'
import type { Json } from '@/lib/base/json'
import type { Claims } from '@/lib/ect/claims'
import { meaningOf, readClaim } from '@/lib/ect/vocabulary'
import type { RollbackStatus } from '@/lib/rollback/terms'
import { errorTypes, type FactOf, severities, type TerminalStatus } from './facts'

/** Bytes of texts that travel on from here; a claim may be as long as a token. */
const labelBytes = 80
const descriptionBytes = 300
const targetBytes = 200
const maxMeantFor = 20
const maxTtlS = 31_536_000

const statuses: readonly RollbackStatus[] = ['completed', 'partial', 'escalated', 'failed']
const terminals: readonly TerminalStatus[] = ['success', 'partial', 'failed', 'rolled_back', 'escalated']

/** Acts by which an agent says that a step of its own is done. The drafts ask for one and name none. */
const completion = /(^|[:._-])(complete|completed|completion|done|finished)$/i

/** What the act means in either draft; undefined for the name of a step. */
export function draftMeaning(act: string): string | undefined {
  return act.startsWith('hp:') ? undefined : meaningOf(act)
}

/** True when the act says that a step is done, which is no step of its own. */
export function isCompletion({ act, meaning }: Pick<FactOf<'reported'>, 'act' | 'meaning'>): boolean {
  return meaning === undefined && completion.test(act)
}

/** True when the token is a step: something that its agent does. A compensating action is one. */
export function isAction({ meaning }: Pick<FactOf<'reported'>, 'meaning'>): boolean {
  return meaning === undefined || meaning === 'rollback_act'
}

/** What a token of somebody else states. Never throws: whatever is of no use in it is left out. */
export function reportedOf(claims: Claims): FactOf<'reported'> {
  const { ext } = claims
  const meaning = draftMeaning(claims.exec_act)
  const description = clip(
    textOf(readClaim(ext, 'description') ?? readClaim(ext, 'reason')),
    descriptionBytes,
  )
  const fact: FactOf<'reported'> = {
    type: 'reported',
    jti: claims.jti,
    at: claims.iat * 1000,
    par: claims.par,
    agent: claims.iss,
    act: claims.exec_act,
    label: clip(meaning === undefined && description !== '' ? description : claims.exec_act, labelBytes),
    description,
  }
  const more: Partial<FactOf<'reported'>> = {
    meaning,
    outHash: claims.out_hash,
    severity: oneOf(severities, readClaim(ext, 'severity')),
    errorType: oneOf(errorTypes, readClaim(ext, 'error_type')),
    checkpointId: idOf(readClaim(ext, 'checkpoint_id')),
    reversible: flagOf(readClaim(ext, 'reversible')),
    rollbackUri: maybeText(readClaim(ext, 'rollback_uri'), 1000),
    target: maybeText(readClaim(ext, 'target'), targetBytes),
    ttlS: secondsOf(readClaim(ext, 'ttl')),
    status: oneOf(statuses, readClaim(ext, 'status')),
    downstream: maybeText(readClaim(ext, 'downstream_agent'), 300),
    errorRate: shareOf(readClaim(ext, 'error_rate')),
    cooldownS: secondsOf(readClaim(ext, 'cooldown_s')),
    terminal: oneOf(terminals, readClaim(ext, 'terminal_status')),
    meantFor: meantFor(claims.aud),
  }
  for (const [field, value] of Object.entries(more)) {
    if (value !== undefined) (fact as unknown as Record<string, unknown>)[field] = value
  }
  return fact
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

function maybeText(value: Json | undefined, maxBytes: number): string | undefined {
  return typeof value === 'string' && value !== '' ? clip(value, maxBytes) : undefined
}

function idOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value.length <= 80
    ? value.toLowerCase().replace(/^urn:uuid:/, '')
    : undefined
}

function flagOf(value: Json | undefined): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined
}

function secondsOf(value: Json | undefined): number | undefined {
  return typeof value === 'number' && value > 0 && value <= maxTtlS ? Math.floor(value) : undefined
}

function shareOf(value: Json | undefined): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= 1 ? value : undefined
}

function oneOf<T extends string>(words: readonly T[], value: Json | undefined): T | undefined {
  return words.find((word) => word === value)
}

function meantFor(aud: string | string[]): string[] | undefined {
  const names = [aud].flat().filter((name) => name.startsWith('spiffe://'))
  return names.length > 0 ? names.slice(0, maxMeantFor) : undefined
}
