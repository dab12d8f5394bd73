'use client'
import { useState } from 'react'
import { Actor } from '@/components/ui/actor'
import { Diff } from '@/components/ui/diff'
import { OpenMark } from '@/components/ui/open-mark'
import { Skeleton } from '@/components/ui/skeleton'
import { useValue } from '@/lib/ui/run-queries'
import type { ValueView } from '@/lib/view/run-wire'
import type { WrittenArtifact } from '@/lib/view/state-entry'
import { contentOf } from '@/lib/view/value-content'
import { visibleText } from '@/lib/view/visible-text'
import { ValueBlock } from './value-block'

/** What one entry of a state wrote, each with what stood there before. Values are fetched when one is opened. */
export function WrittenArtifacts({ run, written }: { run: string; written: readonly WrittenArtifact[] }) {
  return (
    <section aria-label="Artifacts written" className="-mx-4 mt-3 border-t">
      <h3 className="px-4 pb-1 pt-3 font-medium">Artifacts written</h3>
      <ul>
        {written.map((one) => (
          <Written key={one.artifact} run={run} one={one} />
        ))}
      </ul>
    </section>
  )
}

function Written({ run, one }: { run: string; one: WrittenArtifact }) {
  const [open, setOpen] = useState(false)
  const { artifact, mode, by, before, earlier, after } = one
  return (
    <li>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="ring-inside flex min-h-8 w-full items-center gap-2 px-4 text-left hover:bg-hover max-md:min-h-12"
      >
        <OpenMark open={open} />
        <span className="mono min-w-0 truncate">{artifact}</span>
        <span className="min-w-0 flex-1 truncate text-ink-3">
          {mode === 'append'
            ? `${after.length} added${earlier > 0 ? ` to ${earlier}` : ''}`
            : before === undefined
              ? 'first value'
              : before === after.at(-1)
                ? 'written again, the same'
                : 'changed'}
        </span>
        <span className="shrink-0 text-t1 text-ink-3">
          <Actor id={by} />
        </span>
      </button>
      {open &&
        (before !== undefined ? (
          <Changed run={run} artifact={artifact} before={before} after={after.at(-1) ?? before} />
        ) : (
          after.map((hash, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same entry may be added twice; entries never move.
            <ValueBlock key={at} run={run} hash={hash} what={artifact} plain />
          ))
        ))}
    </li>
  )
}

function Changed({
  run,
  artifact,
  before,
  after,
}: {
  run: string
  artifact: string
  before: string
  after: string
}) {
  const [old, now] = [useValue(run, before), useValue(run, after)]
  if (before === after) return <p className="px-4 py-2 text-ink-3">Written again with the same value.</p>
  if (!old.data || !now.data) {
    if (old.isError || now.isError) return <ValueBlock run={run} hash={after} what={artifact} plain />
    return <Skeleton what={artifact} lines={2} />
  }
  const texts = [textOf(old.data), textOf(now.data)] as const
  // What is too long, or no text, is shown by itself.
  if (texts[0] === undefined || texts[1] === undefined) {
    return <ValueBlock run={run} hash={after} what={artifact} plain />
  }
  return (
    <div className="px-4 py-2">
      <Diff title={artifact} before={texts[0]} after={texts[1]} context={1} numbers={false} />
    </div>
  )
}

/** The whole value as text; nothing for bytes, and for what came cut. */
function textOf({ json, base64 = '', mediaType, truncated }: ValueView): string | undefined {
  if (truncated) return undefined
  if (json !== undefined) return typeof json === 'string' ? visibleText(json) : JSON.stringify(json, null, 2)
  const content = contentOf(
    mediaType,
    Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)),
  )
  return content.is === 'bytes' ? undefined : visibleText(content.text)
}
