import { type KeyObject, sign } from 'node:crypto'
import type { RunId } from '@/lib/base/ids'
import type { Commit } from '@/lib/engine/ports'
import type { RawCommit, RawWriter } from '@/lib/store/raw-writer'
import type { Store } from '@/lib/store/store'

/** The commits that went to the disk together. */
export type Transaction = Commit[]

/**
 * Notes which commits of a store share a transaction. The store tells of the appends of one transaction without a turn
 * of the event loop in between, and of the next one later: that is how they are told apart.
 */
export function noteTransactions(store: Store, ended?: (runId: RunId) => void) {
  const { ledger } = store
  const commit = ledger.commit.bind(ledger)
  const submitted = new Map<RunId, Commit>()
  let noted: Transaction[] = []
  let open: Transaction | undefined
  ledger.commit = (wish) => {
    submitted.set(wish.runId, wish)
    return commit(wish)
  }
  const off = store.onAppend(({ runId }) => {
    const durable = submitted.get(runId)
    if (!durable) return
    if (!open) {
      open = []
      noted.push(open)
      queueMicrotask(() => {
        open = undefined
      })
    }
    open.push(durable)
    if (durable.projection.status === 'ended') ended?.(runId)
  })
  return {
    /** What was noted since it was last asked for. */
    take(): Transaction[] {
      const taken = noted
      noted = []
      return taken
    },
    stop() {
      off()
      ledger.commit = commit
    },
  }
}

interface Signed {
  runIds: RunId[]
  commits: { inputs: Buffer[]; rest: Commit }[]
}

/** The bytes to be signed again: `header.payload` of every token. */
export function replayable(transactions: readonly Transaction[]): Signed[] {
  return transactions.map((commits) => ({
    runIds: commits.map(({ runId }) => runId),
    commits: commits.map((rest) => ({
      inputs: rest.rows.map(({ token }) => Buffer.from(token.slice(0, token.lastIndexOf('.')), 'latin1')),
      rest,
    })),
  }))
}

/**
 * Signs the same bytes and inserts them in the same transactions, with nothing else. `pooled` signs a transaction's
 * tokens side by side in the thread pool; whichever is quicker is the raw cost.
 */
export async function replay(
  transactions: readonly Signed[],
  writer: RawWriter,
  key: KeyObject,
  pooled: boolean,
): Promise<void> {
  const input = { key, dsaEncoding: 'ieee-p1363' } as const
  const signNow = (bytes: Buffer) => sign('sha256', bytes, input)
  const signAside = (bytes: Buffer) =>
    new Promise<Buffer>((resolve, reject) =>
      sign('sha256', bytes, input, (error, signature) => (error ? reject(error) : resolve(signature))),
    )
  for (const { runIds, commits } of transactions) {
    const inputs = commits.flatMap((commit) => commit.inputs)
    const signatures = pooled ? await Promise.all(inputs.map(signAside)) : inputs.map(signNow)
    let at = 0
    const signed = commits.map(({ inputs, rest }): RawCommit => {
      const { heads, values, checkpoints } = rest
      const rows = rest.rows.map((row, index) => ({
        ...row,
        token: `${inputs[index]?.toString('latin1')}.${signatures[at++]?.toString('base64url')}`,
      }))
      return { rows, heads, values, checkpoints }
    })
    writer.write(runIds, signed)
  }
}
