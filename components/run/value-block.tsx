'use client'
import { useMemo, useState } from 'react'
import { Button } from '@/components/ui/button'
import { CopyId } from '@/components/ui/copy-id'
import type { ValueView } from '@/lib/view/run-wire'
import { ReadValue } from './read-value'

/** Lines drawn before a person asks for all of them. */
const linesAtFirst = 60

/** A stored value, fetched when it comes into view. */
export function ValueBlock({
  run,
  hash,
  what,
  plain = false,
}: {
  run: string
  hash: string
  what: string
  /** A text is shown as it reads, without its quotation marks. */
  plain?: boolean
}) {
  return (
    <ReadValue run={run} hash={hash} what={what}>
      {(value) => <Shown value={value} what={what} plain={plain} />}
    </ReadValue>
  )
}

function Shown({ value, what, plain }: { value: ValueView; what: string; plain: boolean }) {
  const [all, setAll] = useState(false)
  const text = useMemo(() => textOf(value, plain), [value, plain])
  const lines = text?.split('\n') ?? []
  const more = lines.length - linesAtFirst
  return (
    <div className="px-4 py-3">
      <p className="flex flex-wrap gap-x-3 text-t1 text-ink-3">
        <CopyId id={value.hash} what={`${what} hash`} className="text-ink-2" />
        <span className="mono">{value.mediaType}</span>
        <span className="num">{bytes(value.size)}</span>
      </p>
      {text === undefined ? (
        <p className="mt-2 text-ink-3">These are bytes, not text; the export holds them whole.</p>
      ) : (
        <section
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
          tabIndex={0}
          aria-label={`Text of the ${what}`}
          className="mt-2 overflow-x-auto rounded-r2 border bg-well px-3 py-2"
        >
          <pre className="mono leading-5">{all ? text : lines.slice(0, linesAtFirst).join('\n')}</pre>
        </section>
      )}
      {!all && more > 0 && (
        <Button size="sm" variant="quiet" className="mt-1" onClick={() => setAll(true)}>
          Show {more.toLocaleString('en')} more lines
        </Button>
      )}
      {value.truncated && <p className="mt-2 text-ink-3">Cut here; the export holds it whole.</p>}
    </div>
  )
}

function textOf(value: ValueView, plain: boolean): string | undefined {
  if (plain && typeof value.json === 'string') return value.json
  if (value.json !== undefined) return JSON.stringify(value.json, null, 2)
  if (value.base64 === undefined) return undefined
  try {
    const octets = Uint8Array.from(atob(value.base64), (char) => char.charCodeAt(0))
    // A cut value may end inside a character; that is no reason to call it bytes.
    return new TextDecoder('utf-8', { fatal: !value.truncated }).decode(octets)
  } catch {
    return undefined
  }
}

function bytes(size: number): string {
  if (size < 1000) return `${size} B`
  return size < 1_000_000 ? `${(size / 1000).toFixed(1)} kB` : `${(size / 1_000_000).toFixed(1)} MB`
}
