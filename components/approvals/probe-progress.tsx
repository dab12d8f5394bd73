'use client'
import Link from 'next/link'
import { StateMark } from '@/components/ui/state'
import { useCircuits, useServerNow } from '@/lib/ui/circuit-queries'
import { links } from '@/lib/ui/links'
import { useApproval } from '@/lib/ui/queries'
import { asSentence } from '@/lib/view/plain-words'
import type { AboutCircuit } from '@/lib/view/question-wire'
import { CameOfIt } from './came-of-it'
import { concerned, probeOutcome, probesSentence } from './probe-words'

/** Breakers that are listed; the rest are counted. */
const listedAtMost = 8

/** What the answer set going at the downstream, live: one probe at a time, whose turn it is, and what came of each. */
export function ProbeProgress({
  approval,
  about: { downstream },
  since,
}: {
  /** The question that was answered, and when. */
  approval: string
  about: AboutCircuit
  since: number
}) {
  const query = useCircuits()
  const now = useServerNow(query.data?.at, query.dataUpdatedAt)
  const rows = (query.data?.items ?? []).filter((row) => row.downstream.id === downstream.id && !row.reported)
  const hold = query.data?.holds.find((one) => one.downstream.id === downstream.id)
  const { state, words } = probesSentence(rows, hold !== undefined && hold.approval !== approval, now)
  const anew = hold && hold.approval !== '' && hold.approval !== approval ? hold.approval : undefined
  // Its sentence says what the probe came to; while nothing holds again, the probes speak for themselves.
  const question = useApproval(state === 'waiting' ? anew : undefined).data
  if (rows.length === 0) return null
  const told = concerned(rows, since)
  const rest = told.length - listedAtMost
  return (
    <section aria-label={`Probes to ${downstream.name}`} className="mt-3 border-t pt-3">
      <p className="font-medium" suppressHydrationWarning>
        <CameOfIt
          state={state}
          words={question?.state === 'open' ? asSentence(question.sentence) : words}
          anew={anew}
        />
      </p>
      <ul className="mt-2">
        {told.slice(0, listedAtMost).map((row) => {
          const outcome = probeOutcome(row, since)
          return (
            <li
              key={row.id}
              className="flex min-h-8 flex-wrap items-center gap-x-3 border-t py-1 max-md:min-h-12"
            >
              <Link
                href={links.breakers({ circuit: row.id })}
                className="min-w-0 flex-1 truncate underline decoration-line-strong underline-offset-4 hover:decoration-ink"
              >
                {row.caller.name}
              </Link>
              <StateMark state={outcome.state}>{outcome.words}</StateMark>
            </li>
          )
        })}
        {rest > 0 && <li className="border-t py-1 text-ink-3">and {rest} more</li>}
      </ul>
    </section>
  )
}
