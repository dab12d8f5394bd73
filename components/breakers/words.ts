/* What breakers say in sentences. No clock is read here: `now` is the server's, in ms since the epoch. */
import { clockTime, countdown } from '@/lib/ui/format-time'
import type { CircuitRow } from '@/lib/view/circuit-wire'
import { breakerWords, noCallsWords } from '@/lib/view/circuit-words'

/** 0.0412 is "4 %". What failed at all is never "0 %", and what did not fail always is never "100 %". */
export function percent(rate: number): string {
  return `${percentNumber(rate)} %`
}

export function percentNumber(rate: number): number {
  if (rate <= 0) return 0
  if (rate >= 1) return 100
  return Math.min(99, Math.max(1, Math.round(rate * 100)))
}

/** The time of day to the minute, for what is hours away. */
export function clockMinutes(at: number): string {
  return clockTime(at).slice(0, 5)
}

/** The word under a state: the time left, what is being waited for, until when. Empty when there is nothing to say. */
export function underState(row: CircuitRow, now: number): string {
  if (row.reported) return 'reported'
  if (row.forced && row.forced.until > now) return `to ${clockMinutes(row.forced.until)}`
  if (row.shown === 'half_open') return 'probe out'
  if (row.shown !== 'open') return ''
  if (row.held) return 'held'
  return row.until !== undefined && row.until > now ? countdown(row.until - now) : 'probe due'
}

/** What a badge on its line says: words when it is not closed, else its rate. */
export function badgeWords(row: CircuitRow, now: number): { word: string; figure: string } {
  if (row.reported) return { word: `${breakerWords[row.shown]}, reported`, figure: '' }
  if (row.shown === 'closed')
    return row.counts.calls === 0
      ? { word: '', figure: 'no calls' }
      : { word: '', figure: percent(row.errorRate) }
  const under = underState(row, now)
  const isTime = /^[\d:]+$/.test(under)
  if (isTime) return { word: breakerWords[row.shown], figure: under }
  if (row.forced) return { word: `${breakerWords[row.shown]} to`, figure: clockMinutes(row.forced.until) }
  return { word: [breakerWords[row.shown], under].filter(Boolean).join(', '), figure: '' }
}

/** Open, its cooldown over, and free to probe: the next call closes it, or nobody does. */
export function isProbeDue(row: CircuitRow, now: number): boolean {
  if (row.reported || row.held || (row.forced && row.forced.until > now)) return false
  return row.status === 'open' && row.until !== undefined && row.until <= now
}

/** "traffic-monitor to classifier". */
export function nameOf({ caller, downstream }: Pick<CircuitRow, 'caller' | 'downstream'>): string {
  return `${caller.name} to ${downstream.name}`
}

/** "doubled once", "doubled twice", "doubled 3 times". */
export function doubledWords(times: number): string {
  if (times <= 0) return ''
  return times === 1 ? 'doubled once' : times === 2 ? 'doubled twice' : `doubled ${times} times`
}

/** For those who cannot see its lever. Times that move are left out: nobody wants to hear them count. */
export function spokenCircuit(row: CircuitRow): string {
  const parts = [`${nameOf(row)}: ${breakerWords[row.shown]}`]
  if (row.reported) parts.push('reported by its caller')
  else if (row.counts.calls > 0) parts.push(`${percent(row.errorRate)} of its calls failed`)
  else parts.push(noCallsWords(row.windowS))
  if (row.held) parts.push('no probe until a person decides')
  if (row.waiting.count > 0)
    parts.push(`${row.waiting.count} ${row.waiting.count === 1 ? 'run waits' : 'runs wait'} behind it`)
  return parts.join(', ')
}
