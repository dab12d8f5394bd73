import { count } from '@/lib/ui/format-time'
import type { Overview } from '@/lib/view/overview-wire'

type Counts = Overview['counts']

/** Questions and choices that only a person can answer: what "Needs a person" holds. */
export function needsPerson({ waiting, toChoose }: Pick<Counts, 'waiting' | 'toChoose'>): number {
  return waiting + toChoose
}

/** How each count is told: as it is, and as it was at the moment of a bundle. One word for one of it, another for more. */
const told = {
  is: {
    waiting: ['question waits for a person', 'questions wait for a person'],
    toChoose: ['rolled-back run waits for a choice', 'rolled-back runs wait for a choice'],
    failing: ['run has failed', 'runs have failed'],
    resting: ['run stands still', 'runs stand still'],
    running: ['is running', 'are running'],
    endedToday: ['run ended today', 'runs ended today'],
    nothing: 'Nothing needs you',
  },
  was: {
    waiting: ['question waited for a person', 'questions waited for a person'],
    toChoose: ['rolled-back run waited for a choice', 'rolled-back runs waited for a choice'],
    failing: ['run had failed', 'runs had failed'],
    resting: ['run stood still', 'runs stood still'],
    running: ['was running', 'were running'],
    endedToday: ['run had ended that day', 'runs had ended that day'],
    nothing: 'Nothing needed a person',
  },
} as const

/** The one sentence of the overview: "2 questions wait for a person, 1 run has failed, 5 are running." */
export function overviewSentence(counts: Counts, when: keyof typeof told = 'is'): string {
  const words = told[when]
  const say = (name: keyof Counts) => {
    const [one, many] = words[name]
    return count(counts[name], one, many)
  }
  const isAny = (name: keyof Counts) => counts[name] > 0
  const needed = (['waiting', 'toChoose', 'failing'] as const).filter(isAny).map(say)
  const rest = (['resting'] as const).filter(isAny).map(say)
  const last = say(isAny('running') ? 'running' : 'endedToday')
  return `${[...(needed.length > 0 ? needed : [words.nothing]), ...rest, last].join(', ')}.`
}
