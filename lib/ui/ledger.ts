'use client'
/*
 * A run's ledger, held by a page: read page by page, then kept up by the run's live stream.
 *
 *   reading ──all pages──▶ following ──an event with a gap before it──▶ reading (from where it stands)
 *
 * The first page is asked for before the run's details have come, so that opening a run costs one wait and not two.
 */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { RunFold, tokensAtOnce } from '@/lib/view/run-fold'
import type { LedgerPage, RunDetail } from '@/lib/view/run-wire'
import type { StreamEvent } from '@/lib/view/wire'
import { api } from './api'
import { EventStream } from './event-stream'
import { keys } from './keys'

/** About 2 MB a page, the most the server gives: few enough requests, and progress that moves. */
const tokensPerPage = 2_000
/**
 * While a long ledger is read its page is drawn again when it has grown by so much: each drawing of a film costs more
 * than the one before, and one for each page of it would be most of what opening a run takes.
 */
const grownBy = 1.5
/** Events closer together than this are drawn once. */
const gatherMs = 40

export type LedgerStatus = 'reading' | 'following' | 'failed'

export class RunLedger {
  readonly #run: string
  readonly #listeners = new Set<() => void>()
  readonly #heads = new Map<number, string>()
  #firstPage: Promise<LedgerPage> | undefined
  #stream: EventStream | undefined
  #reading: Promise<void> | undefined
  #gather: ReturnType<typeof setTimeout> | undefined
  /** Tokens there were when the page was told last. */
  #told = 0
  #closed = false
  fold: RunFold | undefined
  status: LedgerStatus = 'reading'
  error: unknown
  /** Counts changes: what `useSyncExternalStore` compares. */
  version = 0

  /** `brought` is the first page, when whoever made the run's page sent it along. */
  constructor(run: string, brought?: LedgerPage) {
    this.#run = run
    this.#firstPage = brought ? Promise.resolve(brought) : this.#page(0)
    // Whoever reads it meets its failure; until then it must not be "unhandled".
    this.#firstPage.catch(() => {})
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Begins to fold, once the graph is known. */
  begin(detail: RunDetail): void {
    if (this.fold) return
    this.fold = new RunFold(detail.graph)
    void this.read()
  }

  /** Reads what is missing, and follows from there. Also what "Try again" calls. */
  read = (): Promise<void> => {
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #readAll(): Promise<void> {
    const fold = this.fold
    if (!fold) return
    this.error = undefined
    if (this.status === 'failed') this.status = 'reading'
    try {
      for (let more = true; more && !this.#closed; ) {
        const page = await (this.#firstPage ?? this.#page(fold.seq))
        this.#firstPage = undefined
        await this.#take(page)
        more = page.next !== undefined
      }
      this.status = 'following'
      this.#follow()
    } catch (error) {
      this.#firstPage = undefined
      this.status = 'failed'
      this.error = error
    }
    this.#changed(true)
  }

  async #take(page: LedgerPage): Promise<void> {
    for (let from = 0; from < page.rows.length && !this.#closed; from += tokensAtOnce) {
      if (from > 0) await new Promise((resolve) => setTimeout(resolve))
      this.fold?.add(page.rows.slice(from, from + tokensAtOnce))
    }
    for (const head of page.heads) this.#heads.set(head.seq, head.jws)
    // The last page is told of when all is read.
    if ((this.fold?.seq ?? 0) >= this.#told * grownBy) this.#changed(false)
  }

  #page(after: number): Promise<LedgerPage> {
    return api<LedgerPage>(`/runs/${this.#run}/ledger`, { query: { after, limit: tokensPerPage } })
  }

  #follow(): void {
    if (this.#stream || this.#closed) return
    this.#stream = new EventStream({
      url: `/api/v1/stream?run=${encodeURIComponent(this.#run)}`,
      ...(this.fold?.position === undefined ? {} : { after: this.fold.position }),
      onEvent: (event) => this.#onEvent(event),
    })
    this.#stream.open()
  }

  #onEvent(event: StreamEvent): void {
    const { token, prevHash, hash } = event
    const whole = token !== undefined && prevHash !== undefined && hash !== undefined
    const fits =
      whole && this.fold?.add([{ seq: event.seq, position: event.position, token, prevHash, hash }])
    if (!fits) void this.read()
    this.#changed(false)
  }

  /** The signed heads as they are now: a run that has just ended has one more than when it was read. */
  async freshHeads(): Promise<{ seq: number; jws: string }[]> {
    if (this.fold?.status === 'ended' && !this.#heads.has(this.fold.seq)) {
      const page = await this.#page(Math.max(0, this.fold.seq - 1))
      for (const head of page.heads) this.#heads.set(head.seq, head.jws)
    }
    return [...this.#heads].map(([seq, jws]) => ({ seq, jws }))
  }

  #changed(now: boolean): void {
    clearTimeout(this.#gather)
    const tell = () => {
      this.version++
      this.#told = this.fold?.seq ?? 0
      for (const listener of this.#listeners) listener()
    }
    if (now) tell()
    else this.#gather = setTimeout(tell, gatherMs)
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#gather)
    this.#stream?.close()
    this.#stream = undefined
    this.#listeners.clear()
  }
}

/** The run's ledger while the page is open. `ledger.fold` is there once `detail` is. */
export function useRunLedger(run: string, detail: RunDetail | undefined): RunLedger | undefined {
  const [ledger, setLedger] = useState<RunLedger>()
  const client = useQueryClient()
  useEffect(() => {
    const opened = new RunLedger(run, client.getQueryData<LedgerPage>(keys.runLedger(run)))
    setLedger(opened)
    return () => opened.close()
  }, [run, client])
  useEffect(() => {
    if (ledger && detail) ledger.begin(detail)
  }, [ledger, detail])
  useSyncExternalStore(
    ledger?.subscribe ?? nothing,
    () => ledger?.version ?? 0,
    () => 0,
  )
  return ledger
}

const nothing = () => () => {}
