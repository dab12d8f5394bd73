'use client'
import { ErrorNote } from '@/components/ui/error-note'
import { CutIcon, VerifiedIcon } from '@/components/ui/icons'
import { Skeleton } from '@/components/ui/skeleton'
import { StateShape } from '@/components/ui/state'
import { count } from '@/lib/ui/format-time'
import { useComparison } from '@/lib/ui/value-queries'
import type { Comparison, StoredRef } from '@/lib/ui/value-terms'
import { type DiffLayout, DiffView } from './diff-view'

/** One slot at two positions: its diff, and whether its bytes are what the ledger's hashes say. */
export function SlotCompared({
  title,
  mode,
  mediaType,
  before,
  after,
  layout,
  places,
}: {
  title: string
  mode: 'replace' | 'append'
  mediaType: string
  /** The entries of each side; undefined where the slot is missing. */
  before: StoredRef[] | undefined
  after: StoredRef[] | undefined
  layout: DiffLayout
  /** What the sides are called: "A" and "B". */
  places: [string, string]
}) {
  const found = useComparison(mode, before, after)
  if (found.isError) {
    return (
      <ErrorNote
        title={`${title} could not be compared`}
        error={found.error}
        onRetry={() => void found.refetch()}
      />
    )
  }
  if (!before && !after) {
    return <p className="text-ink-3">— {title} is missing at both.</p>
  }
  if (!found.data) return <Skeleton what={`the diff of ${title}`} lines={4} row={20} />
  const { diff, hashes } = found.data
  const notes = [
    !before && `— Missing at ${places[0]}: nobody had written it.`,
    !after && `— Missing at ${places[1]}: nobody had written it.`,
    found.sameBefore > 0 && `The first ${count(found.sameBefore, 'entry is', 'entries are')} the same.`,
    found.leftOut > 0 && `${count(found.leftOut, 'later entry is', 'later entries are')} not compared here.`,
  ].filter((note) => note !== false)
  return (
    <DiffView
      key={title}
      title={title}
      diff={diff}
      layout={layout}
      words={mediaType === '' ? diff.words : `${mediaType}, ${diff.words}`}
      aside={<HashMark hashes={hashes} both={before !== undefined && after !== undefined} />}
      before={notes.length > 0 && <p className="border-b px-3 py-1.5 text-ink-3">{notes.join(' ')}</p>}
    />
  )
}

/** Said of bytes that were hashed here, in the browser; never of what the server claims. */
function HashMark({ hashes, both }: { hashes: Comparison['hashes']; both: boolean }) {
  switch (hashes) {
    case 'match':
      return (
        <span className="flex shrink-0 items-center gap-1.5" title="Their bytes were hashed in this browser">
          <VerifiedIcon size={14} className="text-done-mark" />
          <span className="max-md:sr-only">
            {both ? 'both hashes match the ledger' : 'the hash matches the ledger'}
          </span>
        </span>
      )
    case 'differ':
      return (
        <span role="alert" className="flex shrink-0 items-center gap-1.5 font-medium text-failed-ink">
          <StateShape state="failed" />
          not what the ledger says
        </span>
      )
    case 'unknown':
      return (
        <span
          className="flex shrink-0 items-center gap-1.5"
          title="Browsers hash only on https and on this machine; the bundle can be verified anywhere"
        >
          <CutIcon size={14} />
          <span className="max-md:sr-only">hashes not checked here</span>
        </span>
      )
    default:
      return hashes satisfies never
  }
}
