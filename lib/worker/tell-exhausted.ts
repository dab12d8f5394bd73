import type { RunId } from '@/lib/base/ids'
import { isProblem } from '@/lib/base/problem'
import { usualRules } from '@/lib/pool/schedule'
import type { PoolAsk } from '@/lib/pool/terms'
import type { WorkerPorts } from './ports'

/**
 * Tells a person that critical work found no room for a minute (ATD, Unsatisfiable Resource Hints): a token in its run,
 * and a question that rests on it. The step waits on meanwhile. Never throws.
 */
export function tellExhausted(ports: Pick<WorkerPorts, 'book' | 'log'>): (ask: PoolAsk) => Promise<void> {
  return async (ask) => {
    const step = stepOf(ask)
    try {
      await tell(ports, ask, step)
    } catch (error) {
      // It got its place meanwhile, the run is over, or people are asked already.
      if (isProblem(error, 'run_moved_on') || isProblem(error, 'run_ended')) return
      const fault = error instanceof Error ? error.message : 'unknown'
      ports.log.error({ run: step.runId, node: step.node, fault }, 'Could not tell that there is no room')
    }
  }
}

async function tell({ book }: Pick<WorkerPorts, 'book'>, ask: PoolAsk, step: ReturnType<typeof stepOf>) {
  const { runId, node, visit } = step
  const place = ask.pool === 'here' ? 'this machine' : ask.pool
  const seconds = usualRules.exhaustAfterS
  const attempt = await book.read(runId, (run) => run.visits.get(node)?.attempt ?? 0)
  const description = `${node} is critical and found no room on ${place} for ${seconds} s: all that is at work there has begun what it does`
  const said = await book.execute(runId, {
    type: 'warn',
    node,
    visit,
    attempt: attempt + 1,
    errorType: 'resource_exhausted',
    code: 'resource_exhausted',
    description,
  })
  await book.execute(runId, {
    type: 'ask_about',
    kind: 'resource_exhausted',
    node,
    visit,
    role: 'operator',
    sentence: `${node} waits for room on ${place}. Make room: pause or cancel what can wait, or raise the bounds under Bulkheads.`,
    reason: description,
    par: said.facts.map(({ jti }) => jti),
  })
}

/** The step that asks, from the id places.ts gave it: run, node and visit. */
function stepOf({ id }: PoolAsk): { runId: RunId; node: string; visit: number } {
  const [first, last] = [id.indexOf(' '), id.lastIndexOf(' ')]
  return {
    runId: id.slice(0, first) as RunId,
    node: id.slice(first + 1, last),
    visit: Number(id.slice(last + 1)),
  }
}
