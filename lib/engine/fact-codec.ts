/*
 * Facts as claims and back. Every field of every fact stands in one table, with the claim it travels in; the two
 * vocabularies are lib/ect's business. Browser-safe: the scrubber decodes with the same code that wrote.
 */
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import type { Claims } from '@/lib/ect/claims'
import { claimName, meaningOf, readClaim, spell } from '@/lib/ect/vocabulary'
import type { Vocabulary } from '@/lib/workflow/graph'
import type { Fact, FactHead, FactOf, FactType } from './facts'
import { reportedOf } from './reported'

type Shape = 'text' | 'number' | 'flag' | 'texts' | 'silence'

interface Place {
  shape: Shape
  /** Claim name without its prefix; or one of the two hash claims. */
  claim: string
  optional: boolean
}

/** Facts that this installation signs. What agents sign themselves is read by reported.ts. */
type OwnFactType = Exclude<FactType, 'reported'>

type FieldsOf<T extends FactType> = {
  [K in Exclude<keyof FactOf<T>, 'type' | keyof FactHead>]-?: Place
}

const at = (claim: string, shape: Shape = 'text'): Place => ({ shape, claim, optional: false })
const maybe = (claim: string, shape: Shape = 'text'): Place => ({ shape, claim, optional: true })

const ofVisit = { node: at('node'), visit: at('visit', 'number') }
const ofAttempt = { ...ofVisit, attempt: at('attempt', 'number') }

const ofCircuit = {
  ...ofAttempt,
  circuit: at('circuit'),
  caller: at('caller'),
  downstream: at('downstream_agent'),
  errorRate: at('error_rate', 'number'),
  calls: at('calls', 'number'),
  failures: at('failures', 'number'),
  windowS: at('window_s', 'number'),
  cooldownS: at('cooldown_s', 'number'),
  until: at('until', 'number'),
  reopened: at('reopened', 'number'),
  change: at('change'),
}

const fields: { [T in OwnFactType]: FieldsOf<T> } = {
  workflow_start: {
    wfId: at('wf_id'),
    description: at('description'),
    nodeCount: at('node_count', 'number'),
    version: at('version'),
    by: at('by'),
    dryRun: at('dry_run', 'flag'),
    input: at('inp_hash'),
    entry: maybe('entry'),
    parentWid: maybe('parent_wid'),
    depth: maybe('depth', 'number'),
    deadlineAt: maybe('deadline_at', 'number'),
    workMs: maybe('work_ms', 'number'),
    forkWid: maybe('fork_wid'),
    forkSeq: maybe('fork_seq', 'number'),
    forkReason: maybe('fork_reason'),
  },
  workflow_complete: {
    wfId: at('wf_id'),
    terminalStatus: at('terminal_status'),
    elapsedS: at('elapsed_s', 'number'),
    reason: at('reason'),
    exhausted: maybe('exhausted'),
  },
  join: { linkOf: maybe('link_of'), linked: maybe('linked', 'texts') },
  task_offered: {
    ...ofVisit,
    action: at('inp_hash'),
    reads: at('reads', 'texts'),
    consequence: at('consequence'),
    role: at('role'),
  },
  task_start: {
    ...ofAttempt,
    action: at('inp_hash'),
    reads: at('reads', 'texts'),
    consequence: at('consequence'),
    agent: maybe('agent'),
    claimS: maybe('claim_s', 'number'),
    timeoutAt: maybe('timeout_at', 'number'),
  },
  task_heartbeat: { ...ofAttempt, claimS: at('claim_s', 'number') },
  claim_lapsed: ofAttempt,
  checkpoint: {
    ...ofAttempt,
    snapshot: at('out_hash'),
    reversible: at('reversible', 'flag'),
    rollbackUri: at('rollback_uri'),
    target: at('target'),
    description: at('description'),
    ttlS: at('ttl', 'number'),
    undo: at('undo'),
    group: maybe('group', 'flag'),
  },
  task_complete: {
    ...ofAttempt,
    output: at('out_hash'),
    label: maybe('label'),
    recovered: maybe('recovered', 'flag'),
    stateFound: maybe('state_found'),
    stateLeft: maybe('state_left'),
    modelTokens: maybe('model_tokens', 'number'),
    writtenBytes: maybe('written_bytes', 'number'),
    toolCalls: maybe('tool_calls', 'number'),
    exhausted: maybe('exhausted'),
    linked: maybe('linked', 'texts'),
  },
  step_carried: {
    ...ofVisit,
    output: at('out_hash'),
    label: maybe('label'),
    tookMs: at('took_ms', 'number'),
    toolCalls: maybe('tool_calls', 'number'),
    from: at('from'),
  },
  artifact_set: {
    ...ofVisit,
    artifact: at('artifact'),
    value: at('out_hash'),
    mediaType: at('media_type'),
    mode: at('mode'),
    by: at('by'),
  },
  step_held: ofAttempt,
  step_released: ofAttempt,
  error: {
    ...ofAttempt,
    severity: at('severity'),
    errorType: at('error_type'),
    code: at('code'),
    description: at('description'),
    checkpointId: maybe('checkpoint_id'),
    upstream: at('upstream_errors', 'texts'),
    retryAt: maybe('retry_at', 'number'),
  },
  circuit_open: ofCircuit,
  circuit_probe: ofCircuit,
  circuit_close: ofCircuit,
  call_rejected: {
    ...ofAttempt,
    circuit: at('circuit'),
    caller: at('caller'),
    downstream: at('downstream_agent'),
    because: at('because'),
    errorRate: at('error_rate', 'number'),
    windowS: at('window_s', 'number'),
    cooldownS: at('cooldown_s', 'number'),
    retryAt: at('retry_at', 'number'),
    change: at('change'),
  },
  circuit_released: {
    ...ofVisit,
    circuit: at('circuit'),
    downstream: at('downstream_agent'),
    by: at('by'),
  },
  cascade_detected: {
    ...ofVisit,
    pattern: at('pattern'),
    affectedAgents: at('affected_agents', 'number'),
    blastRadius: at('blast_radius'),
    description: at('description'),
  },
  signal_received: {
    ...ofVisit,
    errorId: at('error_id'),
    agent: at('agent'),
    severity: at('severity'),
    errorType: at('error_type'),
    checkpointId: at('checkpoint_id'),
    description: at('description'),
    upstream: at('upstream_errors', 'texts'),
  },
  checkpoint_purged: { ...ofVisit, checkpointId: at('checkpoint_id') },
  approval_asked: {
    ...ofVisit,
    approval: at('approval'),
    kind: at('kind'),
    role: at('role'),
    reason: at('reason'),
    sentence: at('sentence'),
    action: at('inp_hash'),
    preview: maybe('preview'),
    reads: at('reads', 'texts'),
    consequence: at('consequence'),
    target: at('target'),
    deadlineAt: maybe('deadline_at', 'number'),
    onSilence: at('unreachable_human', 'silence'),
  },
  approval_decided: {
    ...ofVisit,
    approval: at('approval'),
    verdict: at('verdict'),
    by: at('by'),
    action: at('inp_hash'),
    edited: maybe('edited'),
    seen: maybe('seen'),
    event: maybe('event'),
    comment: at('comment'),
  },
  event_given: { ...ofVisit, event: at('event'), by: at('by'), comment: at('comment') },
  approval_commented: { ...ofVisit, approval: at('approval'), by: at('by'), comment: at('comment') },
  run_paused: { by: at('by'), reason: at('reason') },
  run_resumed: { by: at('by') },
  cancel_asked: { by: at('by'), reason: at('reason'), exhausted: maybe('exhausted') },
  rollback_request: {
    rollback: at('rollback_id'),
    scope: at('scope'),
    node: at('node'),
    cascade: at('cascade', 'flag'),
    reason: at('reason'),
    by: at('by'),
    plan: at('inp_hash'),
    deadlineAt: at('deadline_at', 'number'),
    supersedes: maybe('supersedes'),
    only: maybe('only'),
    overwrite: maybe('overwrite', 'flag'),
    expectedStates: maybe('expected_states', 'texts'),
  },
  rollback_vote: {
    ...ofVisit,
    rollback: at('rollback_id'),
    checkpointId: at('checkpoint_id'),
    agent: at('agent'),
    vote: at('vote'),
    how: at('how'),
    reason: maybe('reason'),
    conflict: maybe('conflicting_rollback_id'),
    changedBy: maybe('changed_by'),
    changedRun: maybe('changed_run'),
    changedNode: maybe('changed_node'),
    description: at('description'),
  },
  rollback_decided: {
    rollback: at('rollback_id'),
    decision: at('decision'),
    without: maybe('without'),
    withoutCount: at('without_count', 'number'),
    by: at('by'),
    reason: at('reason'),
  },
  rollback_act: {
    ...ofVisit,
    rollback: at('rollback_id'),
    checkpointId: at('checkpoint_id'),
    undo: at('undo'),
  },
  rollback_act_result: {
    ...ofVisit,
    rollback: at('rollback_id'),
    checkpointId: at('checkpoint_id'),
    status: at('status'),
    stateHashBefore: maybe('state_hash_before'),
    stateHashAfter: maybe('state_hash_after'),
    description: at('description'),
    evidence: maybe('evidence'),
  },
  rollback_result: {
    rollback: at('rollback_id'),
    status: at('status'),
    checkpointId: at('checkpoint_id'),
    restored: maybe('out_hash'),
    cascaded: at('cascaded'),
    cascadedCount: at('cascaded_count', 'number'),
  },
  rollback_choice: { rollback: at('rollback_id'), choice: at('choice'), by: at('by') },
}

const places = new Map<string, [string, Place][]>(
  Object.entries(fields).map(([type, table]) => [type, Object.entries(table)]),
)

/** What every token of a run carries besides its fact. */
export interface TokenFrame {
  /** URI of the signing installation. */
  iss: string
  aud: string
  wid: string
  vocabulary: Vocabulary
}

/** A ledger token lives as long as a live request's (NOTES 1); read back it is verified without `exp`. */
const lifetimeS = 600

/** The claims of a fact, in the run's vocabulary. */
export function claimsOf(fact: Fact, frame: TokenFrame): Claims {
  const iat = Math.floor(fact.at / 1000)
  const ext: JsonObject = {}
  const claims: Claims = {
    iss: frame.iss,
    aud: frame.aud,
    iat,
    exp: iat + lifetimeS,
    jti: fact.jti,
    wid: frame.wid,
    exec_act: spell(fact.type, frame.vocabulary, fact.type === 'rollback_act' ? fact.undo : undefined),
    par: fact.par,
    ext,
  }
  const values: Record<string, unknown> = { ...fact }
  for (const [field, place] of places.get(fact.type) ?? []) {
    const value = values[field]
    if (value === undefined) continue
    if (place.claim === 'inp_hash' || place.claim === 'out_hash') claims[place.claim] = value as string
    else ext[claimName(place.claim, frame.vocabulary)] = value as Json
  }
  ext[claimName('ms', frame.vocabulary)] = fact.at % 1000
  return claims
}

/**
 * The fact a token states. `home` is the run's own signer, the `iss` of its first token: what anybody else signed is
 * `reported`, whatever it says of itself. Without it the token is taken for the run's own. Throws Problem `ect_claim_invalid` when its act is none of Holdpoint's, or when a claim it
 * needs is missing or of the wrong shape.
 */
export function factOf(claims: Claims, home: string = claims.iss): Fact {
  if (claims.iss !== home) return reportedOf(claims)
  const type = typeOf(claims)
  const ms = readClaim(claims.ext, 'ms')
  const head: FactHead = {
    jti: claims.jti,
    at: claims.iat * 1000 + (typeof ms === 'number' ? ms : 0),
    par: claims.par,
  }
  const fact: Record<string, unknown> = { type, ...head }
  for (const [field, place] of places.get(type) ?? []) {
    const value =
      place.claim === 'inp_hash' || place.claim === 'out_hash'
        ? claims[place.claim]
        : readClaim(claims.ext, place.claim)
    if (value === undefined && place.optional) continue
    if (!hasShape(value, place.shape)) throw wrongClaim(claims, place, value)
    fact[field] = value
  }
  return fact as unknown as Fact
}

/** The types by their acts in either vocabulary; some are spelled as another one and told apart by their claims. */
const typesByAct = new Map<string, string>(
  [...places.keys()]
    .filter((type) => type !== 'rollback_act_result' && type !== 'call_rejected')
    .flatMap((type) => [
      [spell(type, 'atd'), type],
      [spell(type, 'cascade'), type],
    ]),
)

function typeOf(claims: Claims): FactType {
  const meaning = typesByAct.get(claims.exec_act) ?? meaningOf(claims.exec_act)
  const has = (claim: string) => readClaim(claims.ext, claim) !== undefined
  let type = meaning
  if (meaning === 'rollback_result' && has('node')) type = 'rollback_act_result'
  if (meaning === 'circuit_open' && has('retry_at')) type = 'call_rejected'
  if (type === undefined || !places.has(type)) {
    throw new Problem(
      'ect_claim_invalid',
      `The token ${claims.jti} says "${claims.exec_act}", which is no step of a run`,
    )
  }
  return type as FactType
}

function hasShape(value: unknown, shape: Shape): boolean {
  switch (shape) {
    case 'text':
      return typeof value === 'string'
    case 'number':
      return typeof value === 'number' && Number.isFinite(value)
    case 'flag':
      return typeof value === 'boolean'
    case 'texts':
      return Array.isArray(value) && value.every((item) => typeof item === 'string')
    case 'silence':
      return typeof value === 'string' || (isJsonObject(value) && typeof value.escalateTo === 'string')
    default:
      return shape satisfies never
  }
}

function wrongClaim(claims: Claims, place: Place, value: unknown): Problem {
  const found = value === undefined ? 'nothing' : `a ${Array.isArray(value) ? 'list' : typeof value}`
  return new Problem(
    'ect_claim_invalid',
    `The token ${claims.jti} (${claims.exec_act}) has ${found} as "${place.claim}"; expected a ${place.shape}`,
  )
}
