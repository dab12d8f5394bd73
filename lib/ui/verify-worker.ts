/* Runs in a worker: a ledger is checked there, so that the page stays quick while thousands of signatures are. */
import { type CheckVerdict, checkLedger, type LedgerCheck } from '@/lib/view/ledger-check'

export type VerifyAnswer =
  | { kind: 'progress'; done: number; total: number }
  | { kind: 'verdict'; verdict: CheckVerdict }
  /** The check itself could not be done: a key set that cannot be read, a browser without WebCrypto. */
  | { kind: 'failed'; sentence: string }

/** A ledger comes in parts: handing 100,000 tokens over at once would hold the page up. */
export type VerifyQuestion =
  | { kind: 'entries'; entries: LedgerCheck['entries'] }
  | { kind: 'check'; check: Omit<LedgerCheck, 'entries'> }

const entries: LedgerCheck['entries'][number][] = []

const scope = self as unknown as {
  onmessage: (event: MessageEvent<VerifyQuestion>) => void
  postMessage: (answer: VerifyAnswer) => void
}

scope.onmessage = async ({ data }) => {
  if (data.kind === 'entries') {
    for (const entry of data.entries) entries.push(entry)
    return
  }
  try {
    const verdict = await checkLedger({ ...data.check, entries }, (done, total) =>
      scope.postMessage({ kind: 'progress', done, total }),
    )
    scope.postMessage({ kind: 'verdict', verdict })
  } catch (error) {
    scope.postMessage({ kind: 'failed', sentence: error instanceof Error ? error.message : String(error) })
  }
}
