'use client'
import { ChevronLeft } from 'lucide-react'
import Link from 'next/link'
import { useMemo } from 'react'
import { Button, IconButton } from '@/components/ui/button'
import { CopyId } from '@/components/ui/copy-id'
import { Fact, Facts, Sub } from '@/components/ui/facts'
import { partyName } from '@/lib/base/party-name'
import { absoluteTime, count } from '@/lib/ui/format-time'
import type { Verification } from '@/lib/ui/ledger-verify'
import { links } from '@/lib/ui/links'
import { shortId } from '@/lib/ui/short-id'
import { cascadePatternWords } from '@/lib/view/circuit-wire'
import { asSentence } from '@/lib/view/plain-words'
import type { RunFold } from '@/lib/view/run-fold'
import { labelOf } from '@/lib/workflow/graph-index'
import { standingOf, TokenMark } from './token-mark'
import { Who } from './who'

/** One token, opened: what it says, what it follows from, and the entry it is chained by. */
export function TokenPanel({
  fold,
  seq,
  verification,
  onOpen,
  onMoment,
}: {
  fold: RunFold
  seq: number
  verification: Verification
  onOpen: (seq: number | undefined) => void
  /** Shows the run as it was then; absent where it is shown so already. */
  onMoment: (() => void) | undefined
}) {
  const opened = useMemo(() => fold.open(seq), [fold, seq])
  const row = fold.rows[seq - 1]
  const entry = fold.entries[seq - 1]
  const fact = fold.facts[seq - 1]
  if (!opened || !row || !entry) return null
  return (
    <aside
      aria-label={`Token ${seq}`}
      className="flex min-h-0 min-w-0 flex-col overflow-y-auto max-md:flex-1"
    >
      <div className="flex min-h-10 shrink-0 items-center gap-2 border-b pl-2 pr-4">
        <IconButton label="Back to the step" onClick={() => onOpen(undefined)}>
          <ChevronLeft size={16} strokeWidth={1.5} aria-hidden="true" />
        </IconButton>
        <h2>
          Token <span className="num">{seq.toLocaleString('en')}</span>
        </h2>
        {row.words && <span className="shrink-0 text-ink-2">{row.words}</span>}
        <span className="mono min-w-0 truncate text-t1 text-ink-3" title={row.act}>
          {row.act}
        </span>
        <span className="flex-1" />
        <TokenMark standing={standingOf(seq, verification)} />
      </div>
      <div className="px-4 py-2">
        <Facts label={96}>
          <Fact label="Id">
            <CopyId id={row.jti} what="token id" />
          </Fact>
          <Fact label="Time">
            <time dateTime={new Date(row.at).toISOString()}>{absoluteTime(row.at)}</time>
          </Fact>
          <Fact label="Who">
            <Who id={row.who} />
          </Fact>
          {row.node && (
            <Fact label="Step">
              {labelOf(fold.index, row.node)}, visit {row.visit}
            </Fact>
          )}
          {fact && 'circuit' in fact && (
            <Fact label="Breaker">
              <Link
                href={links.breakers({ circuit: fact.circuit })}
                className="underline decoration-line-strong underline-offset-4 hover:decoration-ink"
              >
                To {partyName(fact.downstream)}
              </Link>
              {'errorRate' in fact && (
                <Sub>
                  , <span className="num">{Math.round(fact.errorRate * 100)} %</span> of its calls failed
                </Sub>
              )}
            </Fact>
          )}
          {fact?.type === 'cascade_detected' && (
            <Fact label="Cascade">
              {asSentence(fact.description)}{' '}
              <Sub>
                {cascadePatternWords[fact.pattern] ?? fact.pattern}, {count(fact.affectedAgents, 'agent')}{' '}
                affected
              </Sub>
            </Fact>
          )}
          <Fact label="Follows">
            {row.par.length === 0 ? (
              <Sub>Nothing: it is a root.</Sub>
            ) : (
              <span className="flex flex-wrap gap-x-3">
                {row.par.map((jti) => (
                  <Parent key={jti} fold={fold} jti={jti} onOpen={onOpen} />
                ))}
              </span>
            )}
          </Fact>
          <Fact label="Signed">
            <span className="mono">{opened.header.alg}</span> <Sub>by key</Sub>{' '}
            <span className="mono">{opened.header.kid}</span>
          </Fact>
          <Fact label="Entry">
            <CopyId id={entry.hash} what="entry hash" /> <Sub>after</Sub>{' '}
            <CopyId id={entry.prevHash} what="previous hash" className="text-ink-3" />
          </Fact>
        </Facts>
        {onMoment && (
          <Button size="sm" className="mb-2 mt-1" onClick={onMoment}>
            Show the run at this token
          </Button>
        )}
        <section
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
          tabIndex={0}
          aria-label="Claims"
          className="mb-2 mt-2 overflow-x-auto rounded-r2 border bg-well px-3 py-2"
        >
          <pre className="mono leading-5">{JSON.stringify(opened.claims, null, 2)}</pre>
        </section>
        <p className="pb-4 text-t1 text-ink-3">
          Compact token <CopyId id={entry.token} what="compact token" className="text-ink-2" />
        </p>
      </div>
    </aside>
  )
}

function Parent({
  fold,
  jti,
  onOpen,
}: {
  fold: RunFold
  jti: string
  onOpen: (seq: number | undefined) => void
}) {
  const seq = fold.seqOf(jti)
  if (seq === undefined) {
    return (
      <span className="mono text-ink-3" title={`${jti}, a token of another run`}>
        {shortId(jti)}
      </span>
    )
  }
  return (
    <button
      type="button"
      title={jti}
      onClick={() => onOpen(seq)}
      className="underline decoration-line-strong underline-offset-4 hover:decoration-ink"
    >
      {seq} {fold.rows[seq - 1]?.words ?? fold.rows[seq - 1]?.act}
    </button>
  )
}
