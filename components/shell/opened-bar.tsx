'use client'
import { CutIcon, VerifiedIcon } from '@/components/ui/icons'
import { absoluteTime, utcTime } from '@/lib/ui/format-time'
import { useHydrated } from '@/lib/ui/hydrated'
import type { OpenedBundle } from '@/lib/view/bundle-wire'

/** On every page of a console that shows a bundle: what is looked at, as of when, and whether it holds. */
export function OpenedBar({ opened }: { opened: OpenedBundle }) {
  const { file, at, tokens, runs, holds, fault, keysGiven } = opened
  if (!holds) {
    return (
      <div
        role="alert"
        className="flex min-h-10 items-center gap-2 border-b border-failed-line bg-failed-wash px-4 py-2 max-md:flex-wrap"
      >
        <CutIcon className="shrink-0 text-failed-mark" />
        <b className="whitespace-nowrap text-failed-ink">Does not verify.</b>
        <span className="min-w-0 wrap-anywhere">
          Opened from <bdi>{file}</bdi>, read-only, as of <AsOf at={at} />. {fault} Believe nothing here
          without the original.
        </span>
      </div>
    )
  }
  return (
    <div
      role="note"
      className="flex min-h-8 items-center gap-2 border-b bg-canvas px-4 py-1.5 text-ink-2 max-md:items-start"
    >
      <VerifiedIcon className="shrink-0 text-done-mark max-md:mt-0.5" />
      <span className="min-w-0 wrap-anywhere">
        Opened from <bdi>{file}</bdi>, read-only, as of <AsOf at={at} />; verified:{' '}
        <span className="num">{tokens.toLocaleString('en')}</span> {tokens === 1 ? 'token' : 'tokens'}
        {runs > 1 && (
          <>
            {' '}
            of <span className="num">{runs.toLocaleString('en')}</span> runs
          </>
        )}
        {keysGiven ? ', with keys you gave' : ', with the keys in the file itself'}
      </span>
    </div>
  )
}

/** The moment in the reader's zone. */
function AsOf({ at }: { at: number }) {
  const hydrated = useHydrated()
  return (
    <time dateTime={new Date(at).toISOString()} className="num whitespace-nowrap">
      {hydrated ? absoluteTime(at) : utcTime(at)}
    </time>
  )
}
