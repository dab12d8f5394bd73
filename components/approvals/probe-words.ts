/* What goes on at a downstream once its probes were let go: whose turn it is, and what came of each. Pure; `now` is given. */
import { clockMinutes } from '@/components/breakers/words'
import { countdown } from '@/lib/ui/format-time'
import type { CircuitRow } from '@/lib/view/circuit-wire'
import type { ShownState } from '@/lib/view/shown-state'

export interface ProbeWords {
  state: ShownState
  words: string
}

/**
 * How the probes stand, in a sentence: one is out, whose comes next, or how it ended. `rows`: every breaker on that
 * downstream; `heldAgain`: by a question that came after the answer. `now`: ms since the epoch, by the server's clock.
 */
export function probesSentence(rows: readonly CircuitRow[], heldAgain: boolean, now: number): ProbeWords {
  const out = rows.find(({ shown }) => shown === 'half_open')
  if (out) {
    return {
      state: 'running',
      words: `The probe of ${out.caller.name} is out; the others wait for its answer.`,
    }
  }
  if (rows.some(({ held }) => held)) {
    if (!heldAgain) return { state: 'running', words: 'The answer is on its way to the breakers.' }
    return { state: 'waiting', words: 'The probe failed, so no other goes: it is asked about anew.' }
  }
  const open = rows.filter(({ shown }) => shown === 'open').sort(inTurn)
  const [first] = open
  if (first) return { state: 'pending', words: nextWords(first, now) }
  const forced = rows.find(({ shown, forced }) => shown === 'forced_open' && forced)?.forced
  if (forced) {
    return { state: 'skipped', words: `Held open until ${clockMinutes(forced.until)}; no probe goes before.` }
  }
  return { state: 'done', words: 'Its breakers are closed: calls pass again.' }
}

/** Where runs wait first, as only they can send a probe by themselves. */
function inTurn(a: CircuitRow, b: CircuitRow): number {
  const waits = Number(b.waiting.count > 0) - Number(a.waiting.count > 0)
  return waits || (a.until ?? 0) - (b.until ?? 0)
}

function nextWords({ caller, until = 0, waiting }: CircuitRow, now: number): string {
  if (waiting.count > 0 && until > now)
    return `One at a time: the next probe is of ${caller.name}, in ${countdown(until - now)}.`
  return waiting.count > 0
    ? `One at a time: the next probe is of ${caller.name}, about to go.`
    : `No run waits for it now; should ${caller.name} call it again, that call is the probe.`
}

/** Breakers that have something to tell since then: those that are not closed, or closed since. */
export function concerned(rows: readonly CircuitRow[], since: number): CircuitRow[] {
  return rows.filter(({ shown, since: at }) => shown !== 'closed' || at >= since)
}

/** What one breaker has come to since `since`, beside its caller's name. */
export function probeOutcome(row: CircuitRow, since: number): ProbeWords {
  const probe = row.lastProbe && row.lastProbe.at >= since ? row.lastProbe : undefined
  switch (row.shown) {
    case 'half_open':
      return { state: 'running', words: 'its probe is out' }
    case 'open':
      if (probe && !probe.ok) return { state: 'failed', words: 'its probe failed, still open' }
      if (row.held) return { state: 'pending', words: 'open, held' }
      return {
        state: 'pending',
        words: row.waiting.count > 0 ? 'open, its turn comes' : 'open, no run waits',
      }
    case 'closed':
      return { state: 'done', words: probe?.ok ? 'its probe succeeded, closed' : 'closed' }
    case 'forced_open':
      return { state: 'skipped', words: 'forced open' }
    case 'forced_closed':
      return { state: 'skipped', words: 'forced closed' }
    default:
      return row.shown satisfies never
  }
}
