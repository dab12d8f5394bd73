'use client'
import { Button } from '@/components/ui/button'
import { CopyId } from '@/components/ui/copy-id'
import { Diff } from '@/components/ui/diff'
import { DiffHead } from '@/components/ui/diff-line'
import { RelativeTime } from '@/components/ui/relative-time'
import { Skeleton } from '@/components/ui/skeleton'
import { StateShape } from '@/components/ui/state'
import type { PathStand } from '@/lib/rollback/terms'
import { sentenceOf } from '@/lib/ui/api'
import { usePutBack } from '@/lib/ui/queries'
import { asSentence } from '@/lib/view/plain-words'
import type { PutBackView } from '@/lib/view/rollback-wire'
import { putBackWords, standsWords } from './put-back-words'

/**
 * What putting one target back would undo: as it is now, beside as it would be. `path`: where the API tells it, behind
 * `/api/v1`. Looked at when it is drawn, and again when the person says so.
 */
export function PutBackDifference({ path, narrow }: { path: string; narrow: boolean }) {
  const query = usePutBack(path)
  if (query.isError && !query.isFetching) {
    return <NotShown error={query.error} onRetry={() => void query.refetch()} />
  }
  if (!query.data) {
    return (
      <div className="overflow-hidden rounded-r2 border">
        <Skeleton what="what would be undone" lines={3} row={28} />
      </div>
    )
  }
  return (
    <>
      <Shown view={query.data} narrow={narrow} />
      <p className="mt-1.5 flex flex-wrap items-center gap-x-2 text-t1 text-ink-3">
        <span>
          {linesOf(query.data) && '− is there now, + would be. '}Looked <RelativeTime at={query.data.at} />.
        </span>
        <Button size="sm" variant="quiet" busy={query.isFetching} onClick={() => void query.refetch()}>
          Look again
        </Button>
      </p>
    </>
  )
}

function Shown({ view, narrow }: { view: PutBackView; narrow: boolean }) {
  const words = putBackWords(view)
  const lines = linesOf(view)
  return (
    <>
      {words && <p className="mb-2 text-ink-2 last:mb-0 [overflow-wrap:anywhere]">{words}</p>}
      {lines && (
        <Diff
          title={lines.title}
          before={lines.now}
          after={lines.after}
          context={narrow ? 1 : 3}
          numbers={!narrow}
        />
      )}
      {view.of === 'path' && view.withheld && (
        <figure className="overflow-hidden rounded-r2 border bg-surface">
          <DiffHead title={view.target} />
          <dl>
            <Stands label="Now" stand={view.now} />
            <Stands label="Put back" stand={view.after} />
          </dl>
        </figure>
      )}
    </>
  )
}

/** Both sides line by line; undefined where they are not shown so, or no line differs. */
function linesOf(view: PutBackView): { title: string; now: string; after: string } | undefined {
  const lines = view.of === 'agent' ? view.preview : view.text && { title: view.target, ...view.text }
  return lines && lines.now !== lines.after ? lines : undefined
}

function Stands({ label, stand }: { label: string; stand: PathStand }) {
  return (
    <div className="grid grid-cols-[72px_minmax(0,1fr)] border-b px-3 py-1.5 last:border-b-0">
      <dt className="text-ink-3">{label}</dt>
      <dd className="flex flex-wrap gap-x-3">
        <span className="num">{standsWords(stand)}</span>
        {stand.stands === 'file' && <CopyId id={stand.hash} what="hash" className="text-ink-3" />}
      </dd>
    </div>
  )
}

function NotShown({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  return (
    <div role="alert" className="flex gap-2 rounded-r2 border px-3 py-2">
      <span className="mt-0.5">
        <StateShape state="failed" />
      </span>
      <div className="min-w-0">
        <p className="[overflow-wrap:anywhere]">
          <b>It cannot be shown.</b> {asSentence(sentenceOf(error))}
        </p>
        <Button size="sm" className="mt-2" onClick={onRetry}>
          Look again
        </Button>
      </div>
    </div>
  )
}
