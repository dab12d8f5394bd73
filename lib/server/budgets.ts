import type { RunId } from '@/lib/base/ids'
import { EffectFailed } from '@/lib/runners/runner'
import type { Store } from '@/lib/store/store'
import type { ReachingStep } from '@/lib/worker/ports'
import type { RunBook } from '@/lib/worker/run-book'
import type { Budget } from '@/lib/workflow/graph'
import type { GraphIndex } from '@/lib/workflow/graph-index'

/** What runs spend: tokens of models, bytes written to files (agentd `[budget]`, NOTES 22). */
export type Currency = 'modelTokens' | 'writtenBytes'

/** Where runs, and those that began them, are read. */
interface Runs {
  readonly store: Store
  readonly book: RunBook
  graphOf(version: string): Promise<GraphIndex>
}

/** Counts kept in memory; of a run forgotten, the finished steps are counted anew. */
const countsKept = 8_192

const limits: Record<Currency, (budget: Budget) => number | undefined> = {
  modelTokens: ({ maxModelTokens }) => maxModelTokens,
  writtenBytes: ({ maxWriteBytes }) => maxWriteBytes,
}
const words: Record<Currency, (limit: number, spent: number) => string> = {
  modelTokens: (limit, spent) =>
    `The run may spend ${limit} model tokens (max_llm_tokens) and has spent ${spent}`,
  writtenBytes: (limit, spent) =>
    `The run may write ${limit} bytes to files (max_fs_write_mb), and this would make it ${spent}`,
}

/**
 * Runs that may be begun below one that nobody began: a workflow whose branches call it again would otherwise fill the
 * disk, eight deep. As many as a run may take steps.
 */
const maxChildrenByDefault = 10_000

/** A run on the way up from a step to the run that nobody began. */
interface Payer {
  runId: RunId
  budget: Budget
}

/**
 * What runs have spent. What a step spends counts against its own run and every run above it, so that child runs share
 * what their parent has left, side by side as well. Finished steps are counted in the ledger; what is being spent now
 * is counted here.
 */
export class Budgets {
  readonly #spent = new Map<string, number>()
  readonly #begun = new Map<string, number>()
  readonly #maxChildren: number

  constructor({ maxChildren = maxChildrenByDefault }: { maxChildren?: number } = {}) {
    this.#maxChildren = maxChildren
  }

  /**
   * Counts one more run below the run that nobody began. Counted by this process, since its start. Throws EffectFailed
   * `too_many_children`.
   */
  async countChild(house: Runs, step: ReachingStep): Promise<void> {
    const top = (await payersOf(house, step)).at(-1)?.runId ?? step.header.runId
    const begun = (this.#begun.get(top) ?? 0) + 1
    if (begun > this.#maxChildren) {
      throw new EffectFailed(
        'too_many_children',
        `${step.node} would begin more than ${this.#maxChildren.toLocaleString('en-US')} runs below ${top}, the most one run may have`,
        { errorType: 'resource_exhausted' },
      )
    }
    this.#begun.delete(top)
    this.#begun.set(top, begun)
    const [oldest] = this.#begun.keys()
    if (this.#begun.size > countsKept && oldest !== undefined) this.#begun.delete(oldest)
  }

  /** The step's purse: 0 asks whether anything is left. Throws EffectFailed `budget_exhausted`, naming the limit. */
  purseOf(house: Runs, step: ReachingStep, currency: Currency): (amount: number) => Promise<void> {
    let chain: Promise<Payer[]> | undefined
    return async (amount) => {
      chain ??= payersOf(house, step)
      const payers = await chain
      const known: number[] = []
      for (const payer of payers) known.push(await this.#spentBy(house, payer, currency))
      this.#take(payers, known, currency, amount)
    }
  }

  async #spentBy(house: Runs, { runId }: Payer, currency: Currency): Promise<number> {
    return this.#spent.get(`${currency} ${runId}`) ?? (await house.book.read(runId, (run) => run[currency]))
  }

  /** In one turn, so that no two steps spend the same rest: from all who pay, or from none. */
  #take(payers: readonly Payer[], known: readonly number[], currency: Currency, amount: number): void {
    const bills = payers.map(({ runId, budget }, at) => {
      const key = `${currency} ${runId}`
      // Looked up again: another step of the run may have spent while this one read.
      const spent = (this.#spent.get(key) ?? known[at] ?? 0) + amount
      const limit = limits[currency](budget)
      const holds = limit === undefined || (amount === 0 ? spent < limit : spent <= limit)
      return { key, spent, refusal: holds ? undefined : words[currency](limit, spent) }
    })
    const refused = bills.find(({ refusal }) => refusal !== undefined)?.refusal
    // Tokens are spent when they are counted; bytes that are refused are never written.
    if (refused === undefined || currency === 'modelTokens') {
      for (const { key, spent } of bills) this.#note(key, spent)
    }
    if (refused === undefined) return
    throw new EffectFailed('budget_exhausted', refused, { errorType: 'resource_exhausted' })
  }

  #note(key: string, spent: number): void {
    this.#spent.delete(key)
    this.#spent.set(key, spent)
    const [oldest] = this.#spent.keys()
    if (this.#spent.size > countsKept && oldest !== undefined) this.#spent.delete(oldest)
  }
}

async function payersOf(house: Runs, { run, header }: ReachingStep): Promise<Payer[]> {
  const payers: Payer[] = [{ runId: header.runId, budget: run.graph.graph.budget }]
  let above = header.parent
  while (above) {
    const parent = await house.store.ledger.header(above.runId)
    if (!parent) break
    const { graph } = await house.graphOf(parent.version)
    payers.push({ runId: parent.runId, budget: graph.budget })
    above = parent.parent
  }
  return payers
}
