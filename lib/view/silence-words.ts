import type { Silence } from '@/lib/workflow/graph'

/** What happens if nobody answers, for people: "it stays held". */
export function silenceWords(silence: Silence): string {
  if (typeof silence === 'object') return `${silence.escalateTo} is asked`
  switch (silence) {
    case 'hold':
      return 'it stays held'
    case 'deny':
      return 'it is refused'
    case 'rollback':
      return 'it is refused'
    case 'continue':
      return 'it goes on without a decision, as the author spelled out'
    default:
      return silence satisfies never
  }
}
