/*
 * Deciding: what becomes of a wish. It returns facts and acts on nothing; the shell signs and appends them. A wish
 * that the run cannot grant any more is refused with a Problem that says what the run is now.
 *
 * Pure: time and chance arrive in `at`. It reads the run and never changes it.
 */
import { clip } from '@/lib/base/clip'
import { Problem } from '@/lib/base/problem'
import type { At, Command, Decision } from './commands'
import { decideApproval, decideComment, decideSilence } from './decide-approvals'
import {
  decideAskAbout,
  decideCascade,
  decideCircuitChanged,
  decideFlag,
  decidePurged,
  decideRejected,
  decideRelease,
  decideSignal,
  decideWarn,
} from './decide-circuits'
import { decideEvent, decideHeld } from './decide-events'
import { decideFork } from './decide-fork'
import { decideReport } from './decide-reported'
import {
  decideAct,
  decideActEnd,
  decideAskRollback,
  decideChoice,
  decideRollback,
  decideRollbackEnd,
  decideRollbackGoOn,
  decideVote,
} from './decide-rollback'
import {
  decideAsk,
  decideBegin,
  decideFailed,
  decideOffer,
  decideSucceeded,
  decideUnknown,
  decideUnresolved,
} from './decide-steps'
import { decideCheckpointed, decideClaim, decideHeartbeat, decideLapse } from './decide-tasks'
import { Draft } from './draft'
import type { Actor } from './facts'
import { outcomeOf } from './outcome'
import { elapsedS, movedOn } from './refusal'
import type { Run } from './run'
import { startJti } from './start-token'

/** Grants a command as facts, or throws a Problem that says why not. */
export function decide(run: Run, command: Command, at: At): Decision {
  const draft = new Draft(at)
  if (command.type === 'start') decideStart(run, command, draft)
  else if (run.state.status === 'new')
    throw new Problem('not_found', 'This run has not begun; start it first')
  else decideStarted(run, command, draft, at)
  return draft.decision
}

function decideStarted(run: Run, command: Exclude<Command, { type: 'start' }>, draft: Draft, at: At): void {
  switch (command.type) {
    case 'ask':
      return decideAsk(run, command, draft, at)
    case 'offer':
      return decideOffer(run, command, draft)
    case 'begin':
      return decideBegin(run, command, draft, at)
    case 'succeeded':
      return decideSucceeded(run, command, draft)
    case 'failed':
      return decideFailed(run, command, draft, at)
    case 'unresolved':
      return decideUnresolved(run, command, draft, at)
    case 'unknown':
      return decideUnknown(run, command, draft, at)
    case 'claim':
      return decideClaim(run, command, draft, at)
    case 'heartbeat':
      return decideHeartbeat(run, command, draft)
    case 'checkpointed':
      return decideCheckpointed(run, command, draft)
    case 'lapse':
      return decideLapse(run, command, draft, at)
    case 'held':
      return decideHeld(run, command, draft)
    case 'give_event':
      return decideEvent(run, command, draft)
    case 'decide':
      return decideApproval(run, command, draft, at)
    case 'comment':
      return decideComment(run, command, draft)
    case 'silence':
      return decideSilence(run, command, draft, at)
    case 'pause':
      return decidePause(run, command, draft)
    case 'resume':
      return decideResume(run, command.by, draft)
    case 'cancel':
      return decideCancel(run, command, draft)
    case 'finish':
      return decideFinish(run, draft, at.now)
    case 'roll_back':
      return decideRollback(run, command, draft, at)
    case 'act_began':
      return decideAct(run, command, draft)
    case 'act_ended':
      return decideActEnd(run, command, draft, at)
    case 'rollback_ended':
      return decideRollbackEnd(run, command, draft, at)
    case 'rejected':
      return decideRejected(run, command, draft)
    case 'circuit_changed':
      return decideCircuitChanged(run, command, draft)
    case 'release':
      return decideRelease(run, command, draft)
    case 'warn':
      return decideWarn(run, command, draft)
    case 'ask_about':
      return decideAskAbout(run, command, draft, at)
    case 'cascade':
      return decideCascade(run, command, draft)
    case 'flag':
      return decideFlag(run, command, draft)
    case 'signal':
      return decideSignal(run, command, draft)
    case 'report':
      return decideReport(run, command, draft)
    case 'purged':
      return decidePurged(run, command, draft)
    case 'voted':
      return decideVote(run, command, draft)
    case 'ask_rollback':
      return decideAskRollback(run, command, draft, at)
    case 'decide_rollback':
      return decideRollbackGoOn(run, command, draft)
    case 'choose':
      return decideChoice(run, command, draft, at.now)
    default:
      command satisfies never
  }
}

function decideStart(run: Run, command: Extract<Command, { type: 'start' }>, draft: Draft): void {
  if (run.state.status !== 'new') throw new Problem('run_moved_on', 'This run has begun already')
  if (command.fork) return decideFork(run, command, command.fork, draft)
  const { graph } = run.graph
  const { parent, deadlineAt, workMs } = command
  draft.add(
    {
      type: 'workflow_start',
      wfId: graph.name,
      description: clip(graph.description, 800),
      nodeCount: graph.nodes.length,
      version: command.version,
      by: command.by,
      dryRun: command.dryRun,
      input: command.input,
      entry: run.walk ? entryOf(run, command.start) : undefined,
      parentWid: parent?.wid,
      depth: parent?.depth,
      deadlineAt,
      workMs,
    },
    parent ? [parent.jti] : [],
  )
}

/** Where a stepwise run begins: at the named start, else the first one, else the only node that no edge leads to. */
function entryOf(run: Run, name: string | undefined): string {
  const { starts } = run.graph.graph
  const start = name === undefined ? starts[0] : starts.find((candidate) => candidate.name === name)
  if (start) return start.node
  if (name !== undefined) {
    const known = starts.map((candidate) => candidate.name).join(', ') || 'none'
    throw new Problem('bad_request', `The workflow has no start named "${clip(name, 80)}"; it has ${known}`)
  }
  const roots = run.graph.order.filter((node) => run.graph.parents.get(node)?.length === 0)
  const [only] = roots
  if (roots.length === 1 && only !== undefined) return only
  throw new Problem(
    'bad_request',
    `The workflow declares no start, and ${roots.length} of its steps have nothing before them; declare one`,
  )
}

function decidePause(run: Run, command: { by: Actor; reason: string }, draft: Draft): void {
  if (run.state.status === 'paused') {
    throw new Problem('run_paused', `This run was paused by ${run.state.by} already`)
  }
  if (run.state.status !== 'running') throw movedOn(run, 'paused')
  draft.add({ type: 'run_paused', by: command.by, reason: clip(command.reason, 1000) }, [
    run.lastJti ?? startJti(run),
  ])
}

function decideResume(run: Run, by: Actor, draft: Draft): void {
  if (run.state.status !== 'paused') {
    throw new Problem(
      'run_not_paused',
      `This run is ${run.state.status}, not paused; there is nothing to resume`,
    )
  }
  draft.add({ type: 'run_resumed', by }, [run.lastJti ?? startJti(run)])
}

function decideCancel(run: Run, command: Extract<Command, { type: 'cancel' }>, draft: Draft): void {
  if (run.state.status !== 'running' && run.state.status !== 'paused') throw movedOn(run, 'cancelled')
  const { by, reason, exhausted } = command
  draft.add({ type: 'cancel_asked', by, reason: clip(reason, 1000), exhausted }, [
    run.lastJti ?? startJti(run),
  ])
}

function decideFinish(run: Run, draft: Draft, now: number): void {
  const outcome = outcomeOf(run)
  if (!outcome) throw new Problem('run_moved_on', 'This run has work left; it cannot end yet')
  draft.add(
    {
      type: 'workflow_complete',
      wfId: run.graph.graph.name,
      terminalStatus: outcome.terminal,
      elapsedS: elapsedS(run, now),
      reason: outcome.reason,
      exhausted: outcome.exhausted,
    },
    [startJti(run), ...leafTokens(run)],
  )
}

/** Completions of steps that nothing follows, so that the end token closes the DAG; the start token comes first (ATD section 3.2). */
function leafTokens(run: Run): string[] {
  if (run.walk) return run.walk.path.slice(-1).flatMap(({ visit }) => visit.doneJti ?? visit.lastJti ?? [])
  const jtis: string[] = []
  for (const visit of run.visits.values()) {
    if (visit.doneJti === undefined || visit.state.status !== 'done') continue
    const followed = (run.graph.children.get(visit.node) ?? []).some(
      (child) => run.visits.get(child)?.taskJti,
    )
    if (!followed) jtis.push(visit.doneJti)
  }
  return jtis
}
