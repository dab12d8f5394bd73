/** Agents outside report: their tokens join as they were signed, and who began a reported run may end it. */
import { Problem } from '@/lib/base/problem'
import type { Command } from './commands'
import type { Draft } from './draft'
import { reporterOf } from './evolve-reported'
import { elapsedS } from './refusal'
import type { Run } from './run'
import { startJti } from './start-token'

/** More than any agent has steps to tell of; past it a run is somebody's mistake. */
export const maxReportedTokens = 50_000
/** In a run that is not theirs to begin with. */
export const maxReportedBeside = 10_000

/** What may still come when a run is over: what became of a checkpoint, and what went wrong. */
const lateMeanings: readonly (string | undefined)[] = ['rollback_result', 'error']

/** The token was verified and its parents looked up before; this looks at what the run itself knows. */
export function decideReport(
  run: Run,
  { fact, linked }: Extract<Command, { type: 'report' }>,
  draft: Draft,
): void {
  const { reported } = run.graph.graph
  if (run.reported?.placeOf.has(fact.jti)) {
    throw new Problem('ect_duplicate_jti', `A token with the jti ${fact.jti} is already in the ledger`, {
      jti: fact.jti,
    })
  }
  if (run.state.status === 'ended' && !lateMeanings.includes(fact.meaning)) {
    throw new Problem(
      'run_ended',
      'This run is over; only what became of its checkpoints may still be reported',
    )
  }
  const most = reported ? maxReportedTokens : maxReportedBeside
  if ((run.reported?.tokens ?? 0) >= most) {
    throw new Problem(
      'report_limit',
      `Agents have reported ${most.toLocaleString('en')} tokens into this run, the most it takes; begin another run`,
    )
  }
  if (linked.length > 0) draft.add({ type: 'join', linkOf: fact.jti, linked }, [startJti(run)])
  draft.decision.facts.push(fact)
  const mayEnd = run.state.status === 'running' || run.state.status === 'paused'
  if (fact.meaning !== 'workflow_complete' || fact.agent !== reporterOf(run) || !mayEnd) return
  draft.add(
    {
      type: 'workflow_complete',
      wfId: run.graph.graph.name,
      terminalStatus: fact.terminal ?? 'success',
      elapsedS: elapsedS(run, draft.now),
      reason: fact.terminal === undefined || fact.terminal === 'success' ? '' : fact.description,
    },
    [startJti(run), fact.jti],
  )
}
