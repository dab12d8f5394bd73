'use client'
import Link from 'next/link'
import { NoUndoIcon } from '@/components/ui/icons'
import { StateMark } from '@/components/ui/state'
import { Tag } from '@/components/ui/tag'
import { links } from '@/lib/ui/links'
import type { ForkEffect, ForkPlanView } from '@/lib/view/fork-wire'
import { asSentence } from '@/lib/view/plain-words'
import { commandLines } from './command-lines'
import { effectGroups, effectsWords, happenedWords, stepWords, timesOfEach } from './fork-words'

/** Times that are linked one by one. */
const linkedTimes = 5

/** What the original did after the position, by what it costs. Of a dry run nothing of it happens, and that is said first. */
export function EffectList({ plan, dryRun }: { plan: ForkPlanView; dryRun: boolean }) {
  return (
    <section aria-label="Side effects">
      <p className={dryRun || plan.effects.length === 0 ? 'text-ink-2' : 'font-medium'}>
        {effectsWords(plan, dryRun)}
      </p>
      {effectGroups(plan.effects).map((group) => (
        <div key={group.consequence} className="mt-3">
          <h3 className="mb-1 flex items-center gap-1.5 text-t1 text-ink-3">
            {group.consequence === 'irreversible' && (
              <NoUndoIcon className={dryRun ? 'text-ink-3' : 'text-failed-mark'} />
            )}
            <span className={group.consequence === 'irreversible' && !dryRun ? 'text-failed-ink' : undefined}>
              {group.title}
            </span>
            <span className="num">{group.effects.length.toLocaleString('en')}</span>
          </h3>
          <ul className="border-t">
            {timesOfEach(group.effects).map((times) => (
              <Effect
                key={`${times[0].run} ${times[0].visit} ${times[0].node}`}
                times={times}
                own={times[0].run === plan.run}
              />
            ))}
          </ul>
        </div>
      ))}
    </section>
  )
}

/** A change, with each time it was made. */
function Effect({ times, own }: { times: [ForkEffect, ...ForkEffect[]]; own: boolean }) {
  const [effect] = times
  const happened = happenedWords(effect.happened)
  return (
    <li className="border-b py-1.5">
      <Did sentence={effect.sentence} by={stepWords(effect)} />
      <p className="flex flex-wrap items-center gap-x-2 text-t1 text-ink-3">
        {times.slice(0, linkedTimes).map((one, at) => (
          <Link
            key={`${one.run} ${one.visit}`}
            href={links.run(one.run, { node: one.node, visit: one.visit })}
            className="underline decoration-line-strong underline-offset-4"
          >
            {at === 0 ? stepWords(one) : `time ${at + 1}`}
          </Link>
        ))}
        {times.length > 1 && <Tag>{times.length.toLocaleString('en')} times</Tag>}
        {!own && <span>in {effect.workflow}, a run below it</span>}
        {effect.happened === 'rolled_back' ? (
          <StateMark state="rolled_back">{happened}</StateMark>
        ) : (
          happened && <Tag>{happened}</Tag>
        )}
      </p>
    </li>
  )
}

/** A command as code, line by line; all else as a sentence. */
function Did({ sentence, by }: { sentence: string; by: string }) {
  const lines = commandLines(sentence)
  if (!lines) return <p className="[overflow-wrap:anywhere]">{asSentence(sentence)}</p>
  return (
    <>
      <p>Run</p>
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        tabIndex={0}
        aria-label={`Command of ${by}`}
        className="my-1 max-h-60 overflow-auto rounded-r2 border bg-well px-2 py-1"
      >
        <pre className="mono whitespace-pre-wrap leading-5 [overflow-wrap:anywhere]">{lines.join('\n')}</pre>
      </section>
    </>
  )
}
