import type { SignalRecord, SignalStore } from '@/lib/engine/signal-ports'

/** Signals in memory, as SQLite keeps them. */
export function memorySignals(signals: Map<string, SignalRecord>): SignalStore {
  const waiting = () => [...signals.values()].flatMap(({ nextAt }) => nextAt ?? [])
  return {
    async take(now, limit, again) {
      const due = [...signals.values()]
        .filter(({ nextAt }) => nextAt !== null && nextAt <= now)
        .sort((a, b) => (a.nextAt ?? 0) - (b.nextAt ?? 0) || (a.id < b.id ? -1 : 1))
        .slice(0, limit)
      return due.map((signal) => {
        const taken = { ...signal, attempts: signal.attempts + 1, nextAt: again }
        signals.set(signal.id, taken)
        return { ...taken }
      })
    },
    async tell(id, end) {
      const signal = signals.get(id)
      if (signal) signals.set(id, { ...signal, ...end })
    },
    ofRun: async (runId) =>
      [...signals.values()]
        .filter((signal) => signal.runId === runId)
        .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)),
    async nextDue() {
      const times = waiting()
      return times.length > 0 ? Math.min(...times) : undefined
    },
  }
}
