'use client'
import { createContext, useContext, useSyncExternalStore } from 'react'

/*
 * One clock for a page: however many ages and countdowns are on it, one timer per step moves them, and only while
 * someone looks at the tab.
 */
interface Ticker {
  now: number
  listeners: Set<() => void>
  timer: ReturnType<typeof setInterval> | undefined
}

const tickers = new Map<number, Ticker>()

function tickerOf(stepMs: number): Ticker {
  let ticker = tickers.get(stepMs)
  if (!ticker) {
    ticker = { now: Date.now(), listeners: new Set(), timer: undefined }
    tickers.set(stepMs, ticker)
  }
  return ticker
}

function listen(stepMs: number, listener: () => void): () => void {
  const ticker = tickerOf(stepMs)
  ticker.listeners.add(listener)
  ticker.timer ??= setInterval(() => {
    if (document.visibilityState === 'hidden') return
    ticker.now = Date.now()
    for (const each of ticker.listeners) each()
  }, stepMs)
  return () => {
    ticker.listeners.delete(listener)
    if (ticker.listeners.size > 0) return
    clearInterval(ticker.timer)
    ticker.timer = undefined
  }
}

function read(stepMs: number): number {
  const ticker = tickerOf(stepMs)
  // Nobody was listening for a while: what it holds is old.
  if (ticker.timer === undefined && Date.now() - ticker.now > stepMs) ticker.now = Date.now()
  return ticker.now
}

/**
 * A moment of the past, in ms since the epoch: what is drawn within counts its times to then, and they stand still. In a
 * bundle all pages are within one.
 */
export const StoppedClock = createContext<number | undefined>(undefined)

/** Now, in ms since the epoch; renders again every `stepMs` while the tab is in sight. */
export function useNow(stepMs = 1000): number {
  const stopped = useContext(StoppedClock)
  const now = useSyncExternalStore(
    (listener) => listen(stepMs, listener),
    () => read(stepMs),
    () => read(stepMs),
  )
  return stopped ?? now
}
