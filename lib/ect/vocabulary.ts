/*
 * One meaning, two vocabularies (NOTES 2). ATD writes `atd:checkpoint` with `atd.*` claims, the cascade draft writes
 * `checkpoint` with `cascade.*` claims. This file is the only one that knows either spelling: everything else speaks
 * of the meaning. What neither draft names is spelled under the product's own prefix, `hp:` for acts, `hp.` for claims.
 */
import type { Json, JsonObject } from '@/lib/base/json'

export type Vocabulary = 'atd' | 'cascade'

/** Acts that a draft names, by meaning. Meanings are the names of facts (lib/engine). */
const acts = {
  workflow_start: { atd: 'atd:workflow_start', cascade: 'atd:workflow_start' },
  workflow_complete: { atd: 'atd:workflow_complete', cascade: 'atd:workflow_complete' },
  checkpoint: { atd: 'atd:checkpoint', cascade: 'checkpoint' },
  // The cascade draft requires an error token and names none.
  error: { atd: 'atd:error', cascade: 'atd:error' },
  circuit_open: { atd: 'atd:circuit_open', cascade: 'circuit_breaker_open' },
  circuit_close: { atd: 'atd:circuit_close', cascade: 'circuit_breaker_close' },
  rollback_request: { atd: 'atd:rollback_request', cascade: 'rollback_start' },
  rollback_result: { atd: 'atd:rollback_result', cascade: 'rollback_complete' },
  cascade_detected: { atd: 'cascade_detected', cascade: 'cascade_detected' },
} as const

/** An undo's act names what is done, not that it is done: a compensating action, or a state put back. */
const undoActs = { compensate: 'compensate', restore: 'hp:restore' } as const

/** Meanings that are spelled as another one and told apart by their claims: the answer to one undo, and a refused call (cascade section 4.5). */
const spelledAs: ReadonlyMap<string, NamedMeaning> = new Map([
  ['rollback_act_result', 'rollback_result'],
  ['call_rejected', 'circuit_open'],
])

export type NamedMeaning = keyof typeof acts

/** Claims that a draft names, and which of the two do. A claim of one draft only keeps that prefix in both vocabularies. */
const claims: Readonly<Record<string, 'both' | Vocabulary>> = {
  description: 'both',
  reversible: 'both',
  rollback_uri: 'both',
  target: 'both',
  ttl: 'both',
  checkpoint_id: 'both',
  downstream_agent: 'both',
  error_rate: 'both',
  window_s: 'both',
  cooldown_s: 'both',
  reason: 'both',
  status: 'both',
  cascaded: 'both',
  wf_id: 'atd',
  node_count: 'atd',
  terminal_status: 'atd',
  elapsed_s: 'atd',
  severity: 'atd',
  error_type: 'atd',
  upstream_errors: 'atd',
  cascade: 'atd',
  rollback_id: 'cascade',
  scope: 'cascade',
  pattern: 'cascade',
  affected_agents: 'cascade',
  blast_radius: 'cascade',
  failed_agents: 'cascade',
  state_hash_before: 'cascade',
  state_hash_after: 'cascade',
}

const claimPlaces = new Map(Object.entries(claims))

const meanings = new Map<string, string>([
  ...Object.entries(acts).flatMap(([meaning, spelled]): [string, string][] => [
    [spelled.atd, meaning],
    [spelled.cascade, meaning],
  ]),
  [undoActs.compensate, 'rollback_act'],
  [undoActs.restore, 'rollback_act'],
])

const OWN_ACT = /^hp:([a-z][a-z0-9_]*)$/

/**
 * The `exec_act` of a meaning. `rollback_act` is `compensate` when `undo` says so and `hp:restore` otherwise; the
 * answer to one undo (`rollback_act_result`) is spelled as the answer to a whole rollback, told apart by its claims.
 */
export function spell(
  meaning: NamedMeaning | (string & {}),
  vocabulary: Vocabulary,
  undo?: 'compensate' | 'restore' | 'remote',
): string {
  if (meaning === 'rollback_act') return undo === 'compensate' ? undoActs.compensate : undoActs.restore
  const named = spelledAs.get(meaning) ?? meaning
  return Object.hasOwn(acts, named) ? acts[named as NamedMeaning][vocabulary] : `hp:${named}`
}

/**
 * The meaning of an `exec_act`, in whichever vocabulary it is spelled; undefined for an act no vocabulary here names.
 * An answer is always `rollback_result`: whether it answers one undo is for its claims to say.
 */
export function meaningOf(execAct: string): string | undefined {
  const known = meanings.get(execAct)
  if (known !== undefined) return known
  const own = OWN_ACT.exec(execAct)?.[1]
  // `hp:checkpoint` would be a third spelling of what has two.
  return own === undefined || Object.hasOwn(acts, own) ? undefined : own
}

/** The name of a claim inside `ext`: `ttl` is `atd.ttl` or `cascade.ttl`, `node` is `hp.node`. */
export function claimName(name: string, vocabulary: Vocabulary): string {
  const place = claimPlaces.get(name)
  if (place === undefined) return `hp.${name}`
  return `${place === 'both' ? vocabulary : place}.${name}`
}

/** The claim of that name in `ext`, in either spelling; undefined when it is not there. */
export function readClaim(ext: JsonObject | undefined, name: string): Json | undefined {
  if (ext === undefined) return undefined
  for (const key of spellingsOf(name)) if (Object.hasOwn(ext, key)) return ext[key]
  return undefined
}

/** Kept, because a name that is put together anew for each token is looked up ten times slower. */
const spellings = new Map<string, readonly string[]>()

function spellingsOf(name: string): readonly string[] {
  const known = spellings.get(name)
  if (known !== undefined) return known
  const place = claimPlaces.get(name)
  const prefixes = place === undefined ? ['hp'] : place === 'both' ? ['atd', 'cascade'] : [place]
  const spelled = prefixes.map((prefix) => `${prefix}.${name}`)
  spellings.set(name, spelled)
  return spelled
}

/** Every act and claim the two drafts name, for documentation and tests. */
export const vocabularyTable = { acts, undoActs, claims }
