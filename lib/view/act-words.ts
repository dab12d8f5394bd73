/*
 * What a token says, in two or three words, and who did it. The act itself (`exec_act`) is the evidence and stands
 * beside the words wherever they are shown; an act that this version does not know has no words but its own name.
 */
import type { Fact, FactOf } from '@/lib/engine/facts'
import type { Run } from '@/lib/engine/run'

/**
 * A fact in words for tables: "step began", "approved". Lower case, without a full stop. `run`, folded up to it, knows
 * what a rollback's end was decided by, since what was called off went to nobody else, and what a question was about.
 */
export function actWords(fact: Fact, run?: Pick<Run, 'rollbacks' | 'approvals'>): string {
  switch (fact.type) {
    case 'workflow_start':
      if (fact.forkWid !== undefined) return fact.dryRun ? 'dry run forked' : 'run forked'
      return fact.dryRun ? 'dry run began' : 'run began'
    case 'workflow_complete':
      if (fact.exhausted) return 'run budget-exhausted'
      return endWords[fact.terminalStatus] ?? `run ended, ${fact.terminalStatus}`
    case 'join':
      return fact.linkOf === undefined ? 'parents joined' : 'linked to another run'
    case 'task_offered':
      return 'offered to agents'
    case 'task_start':
      return fact.attempt > 1 ? `attempt ${fact.attempt} began` : 'step began'
    case 'task_heartbeat':
      return 'still at work'
    case 'claim_lapsed':
      return 'claim lapsed'
    case 'checkpoint':
      return 'state sealed'
    case 'task_complete':
      return fact.recovered ? 'found done' : 'step done'
    case 'step_carried':
      return 'taken as done'
    case 'artifact_set':
      return fact.mode === 'append' ? `${fact.artifact} added to` : `${fact.artifact} written`
    case 'step_held':
      return 'waits below'
    case 'step_released':
      return 'goes on'
    case 'error':
      return errorWords(fact)
    case 'approval_asked':
      return askedWords[fact.kind] ?? 'question asked'
    case 'approval_decided':
      if (fact.event !== undefined) return `gave ${fact.event}`
      if (run?.approvals.get(fact.approval)?.kind === 'rollback_critical')
        return criticalWords[fact.verdict] ?? fact.verdict
      return verdictWords[fact.verdict] ?? fact.verdict
    case 'event_given':
      return `gave ${fact.event}`
    case 'approval_commented':
      return 'commented'
    case 'run_paused':
      return 'run paused'
    case 'run_resumed':
      return 'run resumed'
    case 'cancel_asked':
      return 'cancel asked'
    case 'circuit_open':
      return fact.reopened > 0 ? 'probe failed, breaker open' : 'breaker opened'
    case 'circuit_probe':
      return 'breaker let a probe go'
    case 'circuit_close':
      return 'breaker closed'
    case 'call_rejected':
      return 'call refused by breaker'
    case 'circuit_released':
      return 'breaker lets go'
    case 'cascade_detected':
      return 'cascade seen'
    case 'signal_received':
      return 'agent told of an error'
    case 'checkpoint_purged':
      return 'sealed state destroyed'
    case 'reported':
      return reportedWords[fact.meaning ?? ''] ?? (fact.label || fact.act)
    case 'rollback_vote':
      return fact.vote === 'prepared' ? 'prepared' : 'cannot prepare'
    case 'rollback_decided':
      return rollbackDecisionWords[fact.decision] ?? `rollback: ${fact.decision}`
    case 'rollback_request':
      return 'rollback asked'
    case 'rollback_act':
      return fact.undo === 'compensate' ? 'compensation began' : 'restore began'
    case 'rollback_act_result':
      return undoWords[fact.status] ?? `undo ${fact.status}`
    case 'rollback_result':
      if (run && isCalledOff(run.rollbacks.get(fact.rollback))) return 'rollback called off'
      return rollbackWords[fact.status] ?? `rollback ${fact.status}`
    case 'rollback_choice':
      return fact.choice === 'go_on' ? 'chose to go on' : 'chose to end'
    default:
      return (fact satisfies never as Fact).type
  }
}

/** What follows a decision that was made on the preview that its `seen` names, and not on the question's own. */
export const decidedOnSeen = 'after what it acts on had changed; saw the difference as it was then'

/** It was decided that nothing of it is done. Its result token says `escalated`, for which there is no other word (ATD). */
export function isCalledOff(rollback: { decided?: { decision: string } } | undefined): boolean {
  return rollback?.decided?.decision === 'abort'
}

function errorWords({ code, severity, retryAt, attempt }: FactOf<'error'>): string {
  if (code === 'semantic_failure') return 'found to be wrong'
  if (retryAt !== undefined) return `attempt ${attempt} failed`
  return (severity === 'warning' && warningWords[code]) || 'step failed'
}

/** Errors that fail nothing, by their codes. */
const warningWords: Record<string, string> = {
  circuit_open: 'done without it',
  resources_degraded: 'goes on with less',
  resource_exhausted: 'found no room',
  rollback_timeout: 'rollback out of time',
  checkpoint_expired: 'checkpoint expired',
  checkpoint_tampered: 'checkpoint does not verify',
  checkpoint_missing: 'checkpoint is gone',
}

/** What an agent says of itself, where a draft has an act for it. */
const reportedWords: Record<string, string> = {
  workflow_start: 'agent began',
  workflow_complete: 'agent says it is over',
  checkpoint: 'agent sealed its state',
  error: 'agent told of an error',
  circuit_open: 'agent’s breaker opened',
  circuit_close: 'agent’s breaker closed',
  rollback_request: 'agent asked for a rollback',
  rollback_result: 'agent answered a rollback',
  cascade_detected: 'agent saw a cascade',
}

const endWords: Record<string, string> = {
  success: 'run done',
  partial: 'run partly done',
  failed: 'run failed',
  rolled_back: 'run rolled back',
  escalated: 'run escalated',
}

const askedWords: Record<string, string> = { approval: 'approval asked', event: 'event awaited' }

const verdictWords: Record<string, string> = {
  approve: 'approved',
  refuse: 'refused',
  took_effect: 'said it happened',
  not_taken: 'said it did not',
  acknowledge: 'acknowledged',
  event: 'gave an event',
  go_on_without: 'goes on without',
  abort: 'called it off',
  escalate: 'handed it on',
  ask_again: 'has them asked again',
  overwrite: 'puts it back all the same',
  release: 'let probes go on',
  hold: 'holds the probes',
}

/** On a critical step that a rollback waits before. */
const criticalWords: Record<string, string> = {
  approve: 'let the rollback go on',
  refuse: 'called it off',
}

const rollbackDecisionWords: Record<string, string> = {
  execute: 'rollback may begin',
  partial: 'rollback goes on without some',
  abort: 'rollback called off',
  escalate: 'rollback left to a person',
}

const undoWords: Record<string, string> = {
  completed: 'step taken back',
  partial: 'step partly back',
  escalated: 'a person was told',
  failed: 'undo failed',
}

const rollbackWords: Record<string, string> = {
  completed: 'rollback done',
  partial: 'rollback partly done',
  escalated: 'rollback escalated',
  failed: 'rollback failed',
}

/** Acts that an agent does when the step is an agent's. The others are this installation's own, or a person's. */
const agentActs = new Set<Fact['type']>([
  'task_start',
  'task_heartbeat',
  'checkpoint',
  'task_complete',
  'error',
  'rollback_act',
  'rollback_act_result',
])

/**
 * Who did it, as tokens name actors: who signed it, outside; whoever the token says (`person:ada`), else the agent whose step it is, else
 * `engine`. `agent` is the SPIFFE id of the agent that does the visit, when one does.
 */
export function actorOf(fact: Fact, agent: string | undefined): string {
  if (fact.type === 'reported') return fact.agent
  if ('by' in fact) return fact.by
  return agent !== undefined && agentActs.has(fact.type) ? agent : 'engine'
}
