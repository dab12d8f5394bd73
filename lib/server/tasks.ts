/*
 * Tasks for outside agents: listed, claimed, kept by heartbeats, checkpointed, and reported. An agent proves itself
 * with a signed token in every request (lib/auth/agents.ts), or works through a person's API token.
 */
import type { RunId } from '@/lib/base/ids'
import type { Json } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import type { StepFailure } from '@/lib/engine/commands'
import type { Run } from '@/lib/engine/run'
import type { Action } from '@/lib/runners/runner'
import { readJson } from '@/lib/worker/run-book'
import { jsonValue } from '@/lib/worker/values'
import type { Installation } from './installation'

/** Who works: the name that stands in the ledger as the task's agent. */
export type Claimant = string

export interface TaskView {
  run: string
  workflow: string
  node: string
  label: string
  visit: number
  consequence: string
  role: string
  /** What is to be done, resolved: instructions and input. */
  action: Json
  claimedBy?: string
  claimUntil?: number
}

/** At most this many runs are looked through for offered tasks. */
const runsLookedAt = 200

/** Tasks nobody has claimed, oldest run first. */
export async function offeredTasks(installation: Installation): Promise<TaskView[]> {
  const { runs } = installation.store
  const { items } = await runs.list({ status: ['running', 'waiting'] }, { limit: runsLookedAt })
  const found = await Promise.all(
    items.map(({ runId, workflowName }) =>
      installation.book.read(runId, (run) => offersOf(run).map((node) => ({ runId, workflowName, node }))),
    ),
  )
  return Promise.all(found.flat().map(({ runId, node }) => taskView(installation, runId, node)))
}

function offersOf(run: Run): string[] {
  if (run.state.status !== 'running') return []
  return [...run.active].filter((node) => {
    const state = run.visits.get(node)?.state
    return state?.status === 'waiting' && state.for === 'agent'
  })
}

/** One task as it stands. Throws Problem `not_found`. */
export async function taskView(installation: Installation, runId: RunId, nodeId: string): Promise<TaskView> {
  const noted = await installation.book.read(runId, (run, header) => {
    const node = run.graph.nodes.get(nodeId)
    const visit = run.visits.get(nodeId)
    if (!node || !visit || node.kind !== 'task') {
      throw new Problem('not_found', `This run has no task "${nodeId.slice(0, 80)}"`)
    }
    const { state } = visit
    const running = state.status === 'running' ? state : undefined
    return {
      action: visit.action,
      view: {
        run: runId,
        workflow: header.workflowName,
        node: nodeId,
        label: node.label,
        visit: visit.visit,
        consequence: visit.consequence ?? 'reversible',
        role: visit.offer?.role ?? '',
        claimedBy: running?.agent,
        claimUntil: running?.claimUntil,
      },
    }
  })
  const action =
    noted.action && ((await readJson(installation.ports.ledger, noted.action)) as unknown as Action)
  return { ...noted.view, action: action ? action.do : {} }
}

export interface TaskPlace {
  runId: RunId
  node: string
  visit: number
}

export interface RemoteCheckpoint {
  out_hash: string
  reversible: boolean
  rollback_uri: string
  target: string
  description: string
  ttl: number
  /** Checkpoints of the same step that it groups: rolling it back rolls them back, latest first (NOTES 3.4). */
  children?: string[]
}

/** Claims a task. The first claim wins; Problem `task_claimed` names who holds it. */
export async function claimTask(
  installation: Installation,
  { runId, node, visit }: TaskPlace,
  claimant: Claimant,
  claimS: number,
): Promise<TaskView> {
  await installation.book.execute(runId, { type: 'claim', node, visit, agent: claimant, claimS })
  return taskView(installation, runId, node)
}

/** Records the checkpoint the agent holds, before it acts. The rollback address must be the agent's own. */
export async function checkpointTask(
  installation: Installation,
  { runId, node, visit }: TaskPlace,
  claimant: Claimant,
  checkpoint: RemoteCheckpoint,
): Promise<{ checkpoint_id: string }> {
  const { ports, book } = installation
  const agent = await installation.agents.get(claimant)
  const own = agent && new URL('/.well-known/atd/rollback', agent.baseUrl).href
  if (!own || checkpoint.rollback_uri !== own) {
    throw new Problem(
      'url_refused',
      `The rollback address "${checkpoint.rollback_uri.slice(0, 120)}" is not the agent's own; expected ${own ?? 'a registered agent'}`,
    )
  }
  const jti = ports.mint()
  // What is sealed here is the agent's receipt; its state stays with it.
  const { out_hash, rollback_uri } = checkpoint
  const state = { agent: claimant, checkpoint_id: jti, out_hash, rollback_uri }
  const expiresAt = ports.timer.now() + checkpoint.ttl * 1000
  const taken = {
    jti,
    snapshot: jsonValue(state).hash,
    reversible: checkpoint.reversible,
    rollbackUri: own,
    target: checkpoint.target,
    description: checkpoint.description,
    ttlS: checkpoint.ttl,
    undo: 'remote',
    ...(checkpoint.children && { children: checkpoint.children }),
  } as const
  await book.execute(
    runId,
    { type: 'checkpointed', node, visit, claimant, checkpoint: taken },
    { checkpoints: [ports.vault.seal({ jti, runId, node, visit }, state, expiresAt)] },
  )
  return { checkpoint_id: jti }
}

/** Prolongs a claim. Throws Problem `claim_lost` when somebody else holds the task. */
export async function heartbeatTask(
  installation: Installation,
  { runId, node, visit }: TaskPlace,
  claimant: Claimant,
  claimS: number,
): Promise<TaskView> {
  await installation.book.execute(runId, { type: 'heartbeat', node, visit, claimant, claimS })
  return taskView(installation, runId, node)
}

/** Reports the task done, with its output. */
export async function completeTask(
  installation: Installation,
  place: TaskPlace,
  claimant: Claimant,
  output: Json,
): Promise<void> {
  const value = jsonValue(output)
  const { runId, node, visit } = place
  const attempt = await attemptOf(installation, place)
  await installation.book.execute(
    runId,
    { type: 'succeeded', node, visit, attempt, output: value.hash, claimant },
    { values: [value] },
  )
}

/** Reports the task failed. */
export async function failTask(
  installation: Installation,
  place: TaskPlace,
  claimant: Claimant,
  failure: StepFailure,
): Promise<void> {
  const { runId, node, visit } = place
  const attempt = await attemptOf(installation, place)
  await installation.book.execute(runId, { type: 'failed', node, visit, attempt, failure, claimant })
}

function attemptOf(installation: Installation, { runId, node }: TaskPlace): Promise<number> {
  return installation.book.read(runId, (run) => run.visits.get(node)?.attempt ?? 0)
}
