import type { RunId } from '@/lib/base/ids'
import { EffectFailed } from '@/lib/runners/runner'
import type { ReachingStep } from '@/lib/worker/ports'
import type { Installation } from './installation'

/** Runs whose count is kept in memory; of one forgotten, the finished steps are counted anew. */
const runsKept = 4_096

/** A run on the way up from a step to the run that nobody began. */
interface Payer {
  runId: RunId
  limit?: number
}

/**
 * What runs spend on models. A step's tokens count against its own run and every run above it, so that child runs
 * share what their parent has left, side by side as well. Finished steps are counted in the ledger; what is being
 * spent now is counted here.
 */
export class ModelBudgets {
  readonly #spent = new Map<RunId, number>()

  /** The step's purse: 0 asks whether anything is left. Throws EffectFailed `budget_exhausted`, naming run and limit. */
  purseOf(house: Installation, step: ReachingStep): (tokens: number) => Promise<void> {
    let chain: Promise<Payer[]> | undefined
    return async (tokens) => {
      chain ??= payersOf(house, step)
      for (const payer of await chain) await this.#take(house, payer, tokens)
    }
  }

  async #take(house: Installation, { runId, limit }: Payer, tokens: number): Promise<void> {
    const known = this.#spent.get(runId) ?? (await house.book.read(runId, (run) => run.modelTokens))
    const spent = (this.#spent.get(runId) ?? known) + tokens
    this.#spent.delete(runId)
    this.#spent.set(runId, spent)
    const [oldest] = this.#spent.keys()
    if (this.#spent.size > runsKept && oldest !== undefined) this.#spent.delete(oldest)
    const isOver = limit !== undefined && (tokens === 0 ? spent >= limit : spent > limit)
    if (!isOver) return
    throw new EffectFailed(
      'budget_exhausted',
      `The run may spend ${limit} model tokens (max_llm_tokens) and has spent ${spent}`,
      { errorType: 'resource_exhausted' },
    )
  }
}

async function payersOf(house: Installation, { run, header }: ReachingStep): Promise<Payer[]> {
  const payers: Payer[] = [{ runId: header.runId, limit: run.graph.graph.budget.maxModelTokens }]
  let above = header.parent
  while (above) {
    const parent = await house.store.ledger.header(above.runId)
    if (!parent) break
    const { graph } = await house.graphOf(parent.version)
    payers.push({ runId: parent.runId, limit: graph.budget.maxModelTokens })
    above = parent.parent
  }
  return payers
}
