/*
 * Doing what an error leads to (lib/engine/follow-error.ts): the step's own part is taken back in the engine's name, or
 * a person is asked. The rollback's id is made from the error's, so that an error takes back once, whoever comes to it
 * after a crash; a question is asked once, because a step has one open question of a kind.
 */
import { prefixed, uuidOfText } from '@/lib/base/ids'
import { isProblem } from '@/lib/base/problem'
import { errorsDue } from '@/lib/engine/follow-error'
import type { ErrorToFollow, Run } from '@/lib/engine/run'
import type { Plan } from '@/lib/rollback/plan'
import { labelOf } from '@/lib/workflow/graph-index'
import { executePlan } from './execute-plan'
import type { Hold } from './hold'
import { makePlan } from './plan'
import type { WorkerPorts } from './ports'

interface ErrorNoted extends ErrorToFollow {
  label: string
  role: string
  /** The node's visit now, which a loop may have moved on. */
  visitNow: number
}

/** Does what follows from the error with this token; nothing, when that was done. Throws what commits are refused with. */
export async function followError(ports: WorkerPorts, hold: Hold, jti: string): Promise<void> {
  const error = await ports.book.read(hold.lease.runId, (run) => notedError(run, jti))
  if (!error) return
  const refused = error.leadsTo === 'rollback' ? await takenBack(ports, hold, error) : undefined
  if (error.leadsTo === 'rollback' && refused === undefined) return
  await ask(ports, hold, error, refused)
}

function notedError(run: Run, jti: string): ErrorNoted | undefined {
  const error = errorsDue(run).find((due) => due.jti === jti)
  if (!error) return undefined
  const node = run.graph.nodes.get(error.node)
  return {
    ...error,
    label: labelOf(run.graph, error.node),
    role: node?.approval?.role ?? 'operator',
    visitNow: run.visits.get(error.node)?.visit ?? error.visit,
  }
}

/** Asks for the rollback in the smallest scope; says why not, when it cannot be. */
async function takenBack(ports: WorkerPorts, hold: Hold, error: ErrorNoted): Promise<string | undefined> {
  const { runId } = hold.lease
  const plan = await planOf(ports, hold, error)
  if (typeof plan === 'string') return plan
  if (plan.forbidden) return plan.forbidden.sentence
  const own = plan.steps.find(({ node }) => node === error.node)
  if (own?.fate !== 'restored' && own?.fate !== 'compensated')
    return own?.sentence ?? 'It has nothing to undo'
  const rollback = prefixed('rb', uuidOfText(`on error ${runId} ${error.jti}`))
  const reason = `${told(error)}: ${error.description}`
  const wish = { rollback, reason, by: 'engine', error: error.jti }
  await executePlan(ports, runId, plan, wish, hold.along)
  return undefined
}

async function planOf(ports: WorkerPorts, hold: Hold, error: ErrorNoted): Promise<Plan | string> {
  const wish = error.checkpoint === undefined ? { node: error.node } : { checkpoint: error.checkpoint }
  try {
    return await makePlan(ports, hold.lease.runId, { ...wish, mayCoordinate: false })
  } catch (refusal) {
    if (isProblem(refusal)) return refusal.message
    throw refusal
  }
}

async function ask(ports: WorkerPorts, hold: Hold, error: ErrorNoted, refused?: string): Promise<void> {
  const why = refused === undefined ? '' : `; it cannot be taken back by itself: ${refused}`
  await ports.book.execute(
    hold.lease.runId,
    {
      type: 'ask_about',
      kind: 'agent_error',
      node: error.node,
      visit: error.visitNow,
      role: error.role,
      sentence: `${told(error)}: ${error.description}`,
      reason:
        error.agent === undefined
          ? `A step that has an effect failed${why}`
          : `An agent of this run told of an error${why}`,
      par: [error.jti],
    },
    hold.along,
  )
}

function told({ agent, label, critical }: ErrorNoted): string {
  const what = critical ? 'a critical error' : 'an error'
  return agent === undefined ? `${label} ended in ${what}` : `${agent} told of ${what} at ${label}`
}
