'use client'
import { useCallback, useEffect, useRef, useState } from 'react'
import type { CheckVerdict, LedgerCheck } from '@/lib/view/ledger-check'
import { ApiProblem, api } from './api'
import type { RunLedger } from './ledger'
import type { VerifyAnswer, VerifyQuestion } from './verify-worker'

export type Verification =
  | { status: 'idle' }
  | { status: 'checking'; done: number; total: number }
  | { status: 'checked'; verdict: CheckVerdict; at: number }
  | { status: 'impossible'; sentence: string }

/** Ledgers up to this long are checked without being asked: about a second of a worker's time. */
const checkedUnasked = 3_000
/** Tokens that are handed to the worker at once: a few ms of the page's time. */
const handedAtOnce = 4_000
/** A run under way brings tokens in bursts; the check waits until it is quiet for a moment. */
const quietMs = 400

/** Checks a run's ledger in this browser: unasked while it is short, and whenever `verify` is called. */
export function useVerification(run: string, ledger: RunLedger | undefined, seq: number, ready: boolean) {
  const [state, setState] = useState<Verification>({ status: 'idle' })
  const worker = useRef<Worker>(undefined)

  const stop = useCallback(() => {
    worker.current?.terminate()
    worker.current = undefined
  }, [])

  const verify = useCallback(async () => {
    if (!ledger?.fold) return
    stop()
    setState((before) =>
      before.status === 'checked' ? before : { status: 'checking', done: 0, total: ledger.fold?.seq ?? 0 },
    )
    try {
      const { keys, agents } = await publishedKeys(run)
      const heads = await ledger.freshHeads()
      const started = start({ run, entries: ledger.fold.entries, heads, keys, agents }, setState)
      worker.current = started
    } catch (error) {
      setState({ status: 'impossible', sentence: error instanceof Error ? error.message : String(error) })
    }
  }, [run, ledger, stop])

  useEffect(() => {
    if (!ready || seq === 0 || seq > checkedUnasked) return
    const timer = setTimeout(() => void verify(), quietMs)
    return () => clearTimeout(timer)
  }, [ready, seq, verify])
  useEffect(() => stop, [stop])

  return { state, verify }
}

function start(check: LedgerCheck, setState: (state: Verification) => void): Worker {
  const worker = new Worker(new URL('./verify-worker.ts', import.meta.url), { type: 'module' })
  worker.onmessage = ({ data }: MessageEvent<VerifyAnswer>) => {
    switch (data.kind) {
      case 'progress':
        return setState({ status: 'checking', done: data.done, total: data.total })
      case 'verdict':
        worker.terminate()
        return setState({ status: 'checked', verdict: data.verdict, at: Date.now() })
      case 'failed':
        worker.terminate()
        return setState({ status: 'impossible', sentence: data.sentence })
      default:
        return data satisfies never
    }
  }
  worker.onerror = () => {
    worker.terminate()
    setState({ status: 'impossible', sentence: 'This browser could not start the check.' })
  }
  void hand(worker, check)
  return worker
}

/** Hands a ledger to the worker, part by part. */
async function hand(worker: Worker, { entries, ...check }: LedgerCheck): Promise<void> {
  const tell = (question: VerifyQuestion) => worker.postMessage(question)
  // Tokens that come meanwhile are for the next check: the heads are of these.
  const { length } = entries
  for (let from = 0; from < length; from += handedAtOnce) {
    tell({ kind: 'entries', entries: entries.slice(from, Math.min(length, from + handedAtOnce)) })
    await new Promise((resolve) => setTimeout(resolve))
  }
  tell({ kind: 'check', check })
}

/**
 * The installation's public keys and those of the agents that signed in the run, past ones included. The installation's
 * come from where everybody finds them.
 */
async function publishedKeys(run: string): Promise<Pick<LedgerCheck, 'keys' | 'agents'>> {
  const response = await fetch('/.well-known/jwks.json', { credentials: 'same-origin' }).catch(
    () => undefined,
  )
  if (!response?.ok) {
    throw new ApiProblem(
      'offline',
      'The installation’s public keys could not be fetched, so nothing was checked.',
      0,
    )
  }
  const keys = (await response.json()) as LedgerCheck['keys']
  const { agents } = await api<Pick<LedgerCheck, 'agents'>>(`/runs/${run}/keys`)
  return { keys, ...(agents && { agents }) }
}
