'use client'
/*
 * A stored value, shown as what it is. Nothing of it is ever run or interpreted: HTML and Markdown are their own text,
 * `{{…}}` stands as it is written, right-to-left text runs its own way and turns nothing around it, bytes are a size and
 * a head in hex. What is large comes line by line, read aside from the page.
 */
import { Download } from 'lucide-react'
import { useMemo, useState } from 'react'
import { ReadValue } from '@/components/run/read-value'
import { Button } from '@/components/ui/button'
import { CopyId } from '@/components/ui/copy-id'
import { ErrorNote } from '@/components/ui/error-note'
import { Skeleton } from '@/components/ui/skeleton'
import { count } from '@/lib/ui/format-time'
import { valueFile } from '@/lib/ui/stored-bytes'
import { useValueLines } from '@/lib/ui/value-queries'
import type { ValueView } from '@/lib/view/run-wire'
import { contentOf, hexRows, sizeWords } from '@/lib/view/value-content'
import { brokenLines, pageFrom } from '@/lib/view/value-pages'
import { visibleText } from '@/lib/view/visible-text'
import { JsonTree } from './json-tree'
import { bytesIn } from './short-value-of'

/** What of a text is drawn before somebody asks for more, and each time they do. */
const atFirst = { lines: 200, chars: 20_000 }
/** Rows of hex: the head of what is no text. */
const hexAtFirst = 16

/** The value behind a hash, fetched when it comes into view. `what`: "test_report", "output". */
export function StoredValue({ run, hash, what }: { run: string; hash: string; what: string }) {
  return (
    <ReadValue run={run} hash={hash} what={what}>
      {(value) => (
        <>
          <p className="flex flex-wrap items-center gap-x-3 text-t1 text-ink-3">
            <CopyId id={hash} what={`${what} hash`} className="text-ink-2" />
            <span className="mono">{value.mediaType}</span>
            <span className="num">{sizeWords(value.size)}</span>
            <a
              href={valueFile(run, hash)}
              download
              className="flex items-center gap-1 rounded-r1 hover:text-ink max-md:min-h-11"
            >
              <Download size={12} strokeWidth={1.5} aria-hidden="true" />
              Download
            </a>
          </p>
          <div className="mt-2">
            {value.truncated ? (
              <Large run={run} value={value} what={what} />
            ) : (
              <Whole value={value} what={what} />
            )}
          </div>
        </>
      )}
    </ReadValue>
  )
}

function Whole({ value, what }: { value: ValueView; what: string }) {
  const content = useMemo(
    () => (value.json === undefined ? contentOf(value.mediaType, bytesIn(value)) : undefined),
    [value],
  )
  if (value.json !== undefined)
    return (
      <Well what={what}>
        <JsonTree value={value.json} />
      </Well>
    )
  if (content?.is === 'json')
    return (
      <Well what={what}>
        <JsonTree value={content.json} />
      </Well>
    )
  if (content?.is === 'text') return <Text text={content.text} what={what} />
  const bytes = content?.bytes ?? new Uint8Array()
  return <Hex rows={hexRows(bytes, hexAtFirst)} size={value.size} what={what} />
}

function Text({ text, what }: { text: string; what: string }) {
  const [shown, setShown] = useState(1)
  const lines = useMemo(() => brokenLines(text), [text])
  const pages = useMemo(() => pagesOf(lines, shown), [lines, shown])
  const more = lines.length - pages.reduce((sum, page) => sum + page.length, 0)
  if (text === '') return <p className="text-ink-3">It is empty: a text without a character.</p>
  return (
    <>
      <Well what={what}>
        {pages.map((page, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: pages never move.
          <Lines key={index} text={page.join('\n')} />
        ))}
      </Well>
      {more > 0 && (
        <Button size="sm" variant="quiet" className="mt-1" onClick={() => setShown(shown * 4)}>
          Show more of {count(more, 'line')} below
        </Button>
      )}
    </>
  )
}

function Large({ run, value, what }: { run: string; value: ValueView; what: string }) {
  const { hash, mediaType, size } = value
  const pages = useValueLines({ run, hash, mediaType }, true)
  if (pages.isError) {
    return (
      <ErrorNote
        title={`The ${what} could not be read`}
        error={pages.error}
        onRetry={() => void pages.refetch()}
      />
    )
  }
  if (!pages.data) return <Skeleton what={`${sizeWords(size)} of ${what}`} />
  const read = pages.data.pages
  const [first] = read
  if (first?.is === 'bytes') return <Hex rows={first.lines.slice(0, hexAtFirst)} size={size} what={what} />
  const shown = read.reduce((sum, page) => sum + page.lines.length, 0)
  const more = (first?.total ?? 0) - shown
  return (
    <>
      <Well what={what}>
        {read.map((page, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: pages never move.
          <Lines key={index} text={page.lines.join('\n')} />
        ))}
      </Well>
      <p className="mt-1 text-t1 text-ink-3" role="status">
        <span className="num">{shown.toLocaleString('en')}</span> of{' '}
        <span className="num">{(first?.total ?? 0).toLocaleString('en')}</span> lines
      </p>
      {more > 0 && (
        <Button
          size="sm"
          className="mt-1"
          busy={pages.isFetchingNextPage}
          onClick={() => void pages.fetchNextPage()}
        >
          Show more of {count(more, 'line')} below
        </Button>
      )}
    </>
  )
}

/** The first pages of a text, each small enough to be drawn at once. */
function pagesOf(lines: readonly string[], most: number): string[][] {
  const pages: string[][] = []
  for (let from = 0; from < lines.length && pages.length < most; ) {
    const page = pageFrom(lines, from, atFirst)
    pages.push(page)
    from += page.length
  }
  return pages
}

function Lines({ text }: { text: string }) {
  return (
    <pre
      dir="auto"
      className="mono whitespace-pre-wrap leading-5 [overflow-wrap:anywhere] [unicode-bidi:plaintext]"
    >
      {visibleText(text)}
    </pre>
  )
}

function Hex({ rows, size, what }: { rows: string[]; size: number; what: string }) {
  return (
    <>
      <p className="mb-2 text-ink-3">
        These are bytes, not text. {size > rows.length * 16 && `The first ${rows.length * 16} are shown.`}
      </p>
      <Well what={what}>
        <pre className="mono leading-5">{rows.join('\n')}</pre>
      </Well>
    </>
  )
}

function Well({ what, children }: { what: string; children: React.ReactNode }) {
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
      tabIndex={0}
      aria-label={`Value of ${what}`}
      className="ring-inside max-h-[60dvh] overflow-auto rounded-r2 border bg-well px-3 py-2"
    >
      {children}
    </section>
  )
}
