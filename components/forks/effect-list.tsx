'use client'
import Link from 'next/link'
import { NoUndoIcon } from '@/components/ui/icons'
import { StateMark } from '@/components/ui/state'
import { Tag } from '@/components/ui/tag'
import { links } from '@/lib/ui/links'
import type { ForkEffect, ForkPlanView } from '@/lib/view/fork-wire'
import { asSentence } from '@/lib/view/plain-words'
import { effectGroups, effectsWords, happenedWords, stepWords } from './fork-words'

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
            {group.effects.map((effect) => (
              <Effect
                key={`${effect.run} ${effect.visit} ${effect.node}`}
                effect={effect}
                own={effect.run === plan.run}
              />
            ))}
          </ul>
        </div>
      ))}
    </section>
  )
}

function Effect({ effect, own }: { effect: ForkEffect; own: boolean }) {
  const happened = happenedWords(effect.happened)
  return (
    <li className="border-b py-1.5">
      <p className="[overflow-wrap:anywhere]">{asSentence(effect.sentence)}</p>
      <p className="flex flex-wrap items-center gap-x-2 text-t1 text-ink-3">
        <Link
          href={links.run(effect.run, { node: effect.node, visit: effect.visit })}
          className="underline decoration-line-strong underline-offset-4"
        >
          {stepWords(effect)}
        </Link>
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
