import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashJson } from '@/lib/base/hash'
import { parseClaims } from '@/lib/ect/claims'
import type { GraphNode } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import type { Command } from './commands'
import { decide } from './decide'
import { evolve } from './evolve'
import { claimsOf, factOf } from './fact-codec'
import type { Fact, FactOf, FactType } from './facts'
import {
  approvalAsked,
  approvalOf,
  begun,
  checkpointed,
  claimed,
  done,
  momentAfter,
  offered,
  rollbackAsked,
  rollbackOf,
  rolledBack,
  runOf,
  started,
  uuidOf,
} from './histories'
import type { Run } from './run'

const frame = (vocabulary: 'atd' | 'cascade') => ({
  iss: 'spiffe://holdpoint.local/holdpoint',
  aud: 'spiffe://holdpoint.local/holdpoint',
  wid: uuidOf(7),
  vocabulary,
})

/** What goes over the wire and comes back. */
const overTheWire = (fact: Fact, vocabulary: 'atd' | 'cascade') =>
  factOf(parseClaims(JSON.parse(JSON.stringify(claimsOf(fact, frame(vocabulary))))))

const text = fc.string({ maxLength: 40, unit: 'grapheme' })
const hash = fc.string().map(hashJson)
const uuid = fc.uuid()
const count = fc.integer({ min: 1, max: 1000 })
const at = fc.integer({ min: 0, max: 4_000_000_000_000 })
const flag = fc.boolean()
const texts = fc.array(text, { maxLength: 5 })
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const id = <P extends string>(prefix: P) =>
  uuid.map((value) => `${prefix}_${value.replaceAll('-', '')}` as const)
const consequence = fc.constantFrom('read_only' as const, 'reversible' as const, 'irreversible' as const)
const undo = fc.constantFrom('restore' as const, 'remote' as const, 'compensate' as const)
const status = fc.constantFrom(
  'completed' as const,
  'partial' as const,
  'escalated' as const,
  'failed' as const,
)
const exhausted = fc.constantFrom(
  'max_visits' as const,
  'max_total_visits' as const,
  'max_tool_calls' as const,
  'max_wall_time_sec' as const,
)
const ofVisit = { node: text, visit: count }
const ofAttempt = { ...ofVisit, attempt: count }

type Fields<T extends FactType> = {
  [K in Exclude<keyof FactOf<T>, 'type' | 'jti' | 'at' | 'par'>]-?: fc.Arbitrary<FactOf<T>[K]>
}

/** Every field of every fact: the type of this table is complete, so a new fact is tested or does not compile. */
const ofCircuit = {
  ...ofAttempt,
  circuit: text,
  caller: text,
  downstream: text,
  errorRate: fc.double({ min: 0, max: 1, noNaN: true }),
  calls: count,
  failures: count,
  windowS: count,
  cooldownS: count,
  until: at,
  reopened: count,
  change: uuid,
}

/** Those that this installation signs itself. */
const fields: { [T in Exclude<FactType, 'reported'>]: Fields<T> } = {
  circuit_open: ofCircuit,
  circuit_probe: ofCircuit,
  circuit_close: ofCircuit,
  call_rejected: {
    ...ofAttempt,
    circuit: text,
    caller: text,
    downstream: text,
    because: fc.constantFrom('open', 'probing', 'forced', 'held'),
    errorRate: fc.double({ min: 0, max: 1, noNaN: true }),
    windowS: count,
    cooldownS: count,
    retryAt: at,
    change: uuid,
  },
  circuit_released: { ...ofVisit, circuit: text, downstream: text, by: text },
  cascade_detected: {
    ...ofVisit,
    pattern: fc.constantFrom('error_clustering', 'depth_first', 'breadth_first', 'latency_spike'),
    affectedAgents: count,
    blastRadius: hash,
    description: text,
  },
  signal_received: {
    ...ofVisit,
    errorId: text,
    agent: text,
    severity: fc.constantFrom('info', 'warning', 'error', 'critical'),
    errorType: fc.constantFrom('action_failed', 'timeout', 'unknown'),
    checkpointId: uuid,
    description: text,
    upstream: texts,
  },
  checkpoint_purged: { ...ofVisit, checkpointId: uuid },
  workflow_start: {
    wfId: text,
    description: text,
    nodeCount: count,
    version: hash,
    by: text,
    dryRun: flag,
    input: hash,
    entry: maybe(text),
    parentWid: maybe(uuid),
    depth: maybe(count),
    deadlineAt: maybe(at),
    workMs: maybe(count),
    forkWid: maybe(uuid),
    forkSeq: maybe(count),
    forkReason: maybe(text),
  },
  workflow_complete: {
    wfId: text,
    terminalStatus: fc.constantFrom('success', 'partial', 'failed', 'rolled_back', 'escalated'),
    elapsedS: fc.integer({ min: 0, max: 10_000_000 }).map((ms) => ms / 1000),
    reason: text,
    exhausted: maybe(exhausted),
  },
  join: { linkOf: maybe(uuid), linked: maybe(texts) },
  task_offered: { ...ofVisit, action: hash, reads: texts, consequence, role: text },
  task_start: {
    ...ofAttempt,
    action: hash,
    reads: texts,
    consequence,
    agent: maybe(text),
    claimS: maybe(count),
    timeoutAt: maybe(at),
  },
  task_heartbeat: { ...ofAttempt, claimS: count },
  claim_lapsed: ofAttempt,
  checkpoint: {
    ...ofAttempt,
    snapshot: hash,
    reversible: flag,
    rollbackUri: text,
    target: text,
    description: text,
    ttlS: count,
    undo,
    group: maybe(flag),
  },
  task_complete: {
    ...ofAttempt,
    output: hash,
    label: maybe(text),
    recovered: maybe(flag),
    stateFound: maybe(hash),
    stateLeft: maybe(hash),
    modelTokens: maybe(count),
    writtenBytes: maybe(count),
    toolCalls: maybe(count),
    exhausted: maybe(exhausted),
    linked: maybe(texts),
  },
  step_carried: {
    ...ofVisit,
    output: hash,
    label: maybe(text),
    tookMs: count,
    toolCalls: maybe(count),
    from: uuid,
  },
  artifact_set: {
    ...ofVisit,
    artifact: text,
    value: hash,
    mediaType: text,
    mode: fc.constantFrom('replace', 'append'),
    by: text,
  },
  step_held: ofAttempt,
  step_released: ofAttempt,
  event_given: { ...ofVisit, event: text, by: text, comment: text },
  error: {
    ...ofAttempt,
    severity: fc.constantFrom('info', 'warning', 'error', 'critical'),
    errorType: fc.constantFrom(
      'action_failed',
      'timeout',
      'constraint_violation',
      'resource_exhausted',
      'upstream_cascade',
      'unknown',
    ),
    code: text,
    description: text,
    checkpointId: maybe(uuid),
    upstream: texts,
    retryAt: maybe(at),
  },
  approval_asked: {
    ...ofVisit,
    approval: id('appr'),
    kind: fc.constantFrom(
      'approval',
      'outcome_unknown',
      'irreversible_failed',
      'rollback_escalated',
      'rollback_failed',
      'event',
    ),
    role: text,
    reason: text,
    sentence: text,
    action: hash,
    preview: maybe(hash),
    reads: texts,
    consequence,
    target: text,
    deadlineAt: maybe(at),
    onSilence: fc.oneof(
      fc.constantFrom('hold' as const, 'deny' as const, 'rollback' as const, 'continue' as const),
      fc.record({ escalateTo: text }),
    ),
  },
  approval_decided: {
    ...ofVisit,
    approval: id('appr'),
    verdict: fc.constantFrom('approve', 'refuse', 'took_effect', 'not_taken', 'acknowledge', 'event'),
    by: text,
    action: hash,
    edited: maybe(hash),
    seen: maybe(hash),
    event: maybe(text),
    comment: text,
  },
  approval_commented: { ...ofVisit, approval: id('appr'), by: text, comment: text },
  run_paused: { by: text, reason: text },
  run_resumed: { by: text },
  cancel_asked: { by: text, reason: text, exhausted: maybe(exhausted) },
  rollback_request: {
    rollback: id('rb'),
    scope: fc.constantFrom('single', 'sub_dag', 'full_workflow'),
    node: text,
    cascade: flag,
    reason: text,
    by: text,
    plan: hash,
    deadlineAt: at,
    only: maybe(fc.constant('dependents' as const)),
    overwrite: maybe(flag),
    expectedStates: maybe(fc.array(hash, { maxLength: 40 })),
    supersedes: maybe(id('rb')),
  },
  rollback_vote: {
    ...ofVisit,
    rollback: id('rb'),
    checkpointId: text,
    agent: text,
    vote: fc.constantFrom('prepared', 'cannot_prepare'),
    how: fc.constantFrom('asked', 'derived', 'here'),
    reason: maybe(
      fc.constantFrom('expired', 'irreversible', 'hash_mismatch', 'unknown_checkpoint', 'conflict'),
    ),
    conflict: maybe(text),
    changedBy: maybe(text),
    changedRun: maybe(text),
    changedNode: maybe(text),
    description: text,
  },
  rollback_decided: {
    rollback: id('rb'),
    decision: fc.constantFrom('execute', 'partial', 'abort', 'escalate'),
    without: maybe(hash),
    withoutCount: count,
    by: text,
    reason: text,
  },
  rollback_act: { ...ofVisit, rollback: id('rb'), checkpointId: text, undo },
  rollback_act_result: {
    ...ofVisit,
    rollback: id('rb'),
    checkpointId: text,
    status,
    stateHashBefore: maybe(hash),
    stateHashAfter: maybe(hash),
    description: text,
    evidence: maybe(hash),
  },
  rollback_result: {
    rollback: id('rb'),
    status,
    checkpointId: text,
    restored: maybe(hash),
    cascaded: hash,
    cascadedCount: count,
  },
  rollback_choice: { rollback: id('rb'), choice: fc.constantFrom('end', 'go_on'), by: text },
}

describe('a fact in claims', () => {
  it.each(Object.keys(fields) as (keyof typeof fields)[])(
    '%s reads back as it was, in both vocabularies',
    (type) => {
      const head = { type: fc.constant(type), jti: uuid, at, par: fc.array(uuid, { maxLength: 3 }) }
      const arbitrary = fc.record({ ...head, ...(fields[type] as Record<string, fc.Arbitrary<unknown>>) })
      fc.assert(
        fc.property(arbitrary, fc.constantFrom('atd' as const, 'cascade' as const), (made, vocabulary) => {
          const fact = Object.fromEntries(
            Object.entries(made).filter(([, value]) => value !== undefined),
          ) as unknown as Fact
          expect(overTheWire(fact, vocabulary)).toEqual(fact)
        }),
        { numRuns: 60 },
      )
    },
  )

  it('that no run says is refused by name', () => {
    const claims = { ...claimsOf(runFact(), frame('atd')), exec_act: 'hp:moon_landing' }
    expect(() => factOf(claims)).toThrow(
      expect.objectContaining({
        code: 'ect_claim_invalid',
        message: expect.stringContaining('says "hp:moon_landing", which is no step of a run'),
      }),
    )
  })

  it('that lacks a claim is refused, and the claim is named', () => {
    const claims = claimsOf(runFact(), frame('atd'))
    expect(() => factOf({ ...claims, ext: {} })).toThrow(
      expect.objectContaining({
        code: 'ect_claim_invalid',
        message: expect.stringContaining('has nothing as "by"; expected a text'),
      }),
    )
  })
})

function runFact(): Fact {
  return { type: 'run_resumed', jti: uuidOf(1), at: 0, par: [], by: 'person:ada' }
}

describe('whatever people, agents and targets write', () => {
  // Long, wide, quoted and controlling: each kind of text costs most in another way.
  const hostile = ['x', '"', '\u0000', '\u2028', 'Ж', '語', '😀', '\ud800'].map((character) =>
    character.repeat(9000),
  )
  /** The longest a workflow may name things (lib/workflow/checks.ts). */
  const longId = '語'.repeat(128)
  const graph = graphOf({
    [longId]: {
      label: hostile[5],
      approval: { role: longId, reason: '語'.repeat(2000), onSilence: { escalateTo: longId }, deadlineS: 5 },
      config: { role: longId },
    } as Partial<GraphNode>,
  })
  const plain = graphOf({ [longId]: { label: hostile[5] } })
  const visit = { node: longId, visit: 1 }
  const agent = `spiffe://example.com/${'a'.repeat(2000)}`
  const agentMark = `agent:${agent}`
  const person = `person:${'語'.repeat(64)}`

  const wishes = (words: string): [string, Run, Command][] => {
    const action = {
      hash: hashJson('action'),
      consequence: 'irreversible' as const,
      target: words,
      sentence: words,
      // What RunValues records at most: 800 bytes of ids.
      reads: [longId, longId],
      preview: hashJson('preview'),
    }
    const checkpoint = {
      jti: uuidOf(99),
      snapshot: hashJson('state'),
      reversible: false,
      rollbackUri: `https://example.com/${'r'.repeat(900)}`,
      target: words,
      description: words,
      ttlS: 60,
      undo: 'remote' as const,
    }
    const failure = {
      severity: 'error',
      errorType: 'action_failed',
      code: words,
      description: words,
      retriable: false,
    } as const
    const took = [
      begun(),
      started(longId, { consequence: 'irreversible' }),
      checkpointed(longId, { reversible: false }),
    ]
    const asked = [begun(), approvalAsked(longId, { deadlineS: 5, onSilence: { escalateTo: longId } })]
    const backed = [begun(), started(longId), done(longId), rollbackAsked(longId)]
    const rollback = rollbackOf(longId)
    return [
      ['ask', runOf(graph, [begun()]), { type: 'ask', ...visit, action }],
      ['offer', runOf(plain, [begun()]), { type: 'offer', ...visit, action }],
      [
        'begin',
        runOf(plain, [begun()]),
        { type: 'begin', ...visit, action, agent, timeoutS: 60, checkpoint },
      ],
      ['unresolved', runOf(plain, [begun()]), { type: 'unresolved', ...visit, failure }],
      ['failed', runOf(plain, took), { type: 'failed', ...visit, attempt: 1, failure }],
      ['unknown', runOf(plain, took), { type: 'unknown', ...visit, attempt: 1, sentence: words }],
      [
        'claim',
        runOf(plain, [begun(), offered(longId)]),
        { type: 'claim', ...visit, agent, claimS: 60, checkpoint },
      ],
      [
        'lapse',
        runOf(plain, [begun(), offered(longId), claimed(longId, agent, 0)]),
        { type: 'lapse', ...visit },
      ],
      [
        'refuse',
        runOf(graph, asked),
        {
          type: 'decide',
          approval: approvalOf(longId),
          verdict: 'refuse',
          by: person,
          action: hashJson({ action: longId }),
          comment: words,
        },
      ],
      [
        'comment',
        runOf(graph, asked),
        { type: 'comment', approval: approvalOf(longId), by: person, comment: words },
      ],
      ['pause', runOf(plain, [begun()]), { type: 'pause', by: agentMark, reason: words }],
      ['cancel', runOf(plain, [begun()]), { type: 'cancel', by: agentMark, reason: words }],
      [
        'roll_back',
        runOf(plain, backed.slice(0, 3)),
        {
          type: 'roll_back',
          rollback,
          scope: 'sub_dag',
          node: longId,
          checkpoints: [],
          plan: hashJson('plan'),
          seq: 3,
          reason: words,
          by: agentMark,
          deadlineS: 60,
        },
      ],
      [
        'act_ended',
        runOf(plain, backed),
        {
          type: 'act_ended',
          rollback,
          ...visit,
          checkpointId: `${longId}/1`,
          status: 'escalated',
          description: words,
          escalateTo: { role: longId, sentence: words, action: hashJson('x') },
        },
      ],
      [
        'choose',
        runOf(plain, [...backed, rolledBack(longId)]),
        { type: 'choose', rollback, choice: 'end', by: agentMark },
      ],
    ]
  }

  it.each(wishes('').map(([name]) => name))('fits into the tokens of %s', (name) => {
    for (const words of hostile) {
      const [, run, wish] = wishes(words).find(([of]) => of === name) as [string, Run, Command]
      for (const fact of decide(run, wish, momentAfter(run, 60_000)).facts) {
        expect(() => overTheWire(fact, 'cascade')).not.toThrow()
        evolve(run, fact)
      }
    }
  })
})
