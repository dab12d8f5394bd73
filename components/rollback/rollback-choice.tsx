'use client'
import { Button } from '@/components/ui/button'
import { cx } from '@/components/ui/cx'
import { StateShape } from '@/components/ui/state'
import { warnOf } from '@/components/ui/toast'
import { useOpened } from '@/lib/ui/opened'
import { useRollbackChoice } from '@/lib/ui/run-queries'
import { readOnlyWords } from '@/lib/view/opened-words'
import type { RollbackView } from '@/lib/view/rollback-wire'
import type { RunFold } from '@/lib/view/run-fold'
import type { RunDetail } from '@/lib/view/run-wire'
import { labelOf } from '@/lib/workflow/graph-index'

/** True while the run stands still after that rollback, for someone to say how it goes on. */
export function isToChoose(fold: RunFold, rollback: RollbackView): boolean {
  return fold.status === 'rolled_back' && rollback.choice === undefined
}

/** From where a run goes on after a rollback: "write", "write, visit 2", or nothing when it begins anew. */
function placeOf(fold: RunFold, rollback: RollbackView): string | undefined {
  const label = (id: string) => labelOf(fold.index, id)
  if (fold.index.graph.order !== 'stepwise')
    return rollback.scope === 'full_workflow' ? undefined : label(rollback.node)
  const place = fold.resumesAt(rollback)
  if (!place || place.first) return undefined
  return place.visit > 1 ? `${label(place.node)}, visit ${place.visit}` : label(place.node)
}

function onwardWords(fold: RunFold, place: string | undefined): string {
  const walks = fold.index.graph.order === 'stepwise'
  if (place === undefined)
    return walks
      ? 'Going on begins at the first step of the run again and goes whichever way it leads from there, effects and all.'
      : 'Going on does the whole run again, effects and all.'
  return walks
    ? `Going on begins at ${place} again and goes whichever way it leads from there, effects and all.`
    : `Going on does ${place} and what follows again, effects and all.`
}

const barLook =
  'flex shrink-0 flex-wrap items-center gap-x-4 gap-y-2 border-b border-waiting-line bg-waiting-wash px-4 py-2'

/** A bundle that ends while the run waited for that: it is told, and cannot be done there. */
function NobodyChose({ file, bar }: { file: string; bar: boolean }) {
  return (
    <p role="note" className={cx(bar && barLook)}>
      <span>
        <b>Nobody had chosen what happens to the run.</b>{' '}
        <span className="text-ink-2">{readOnlyWords(file)}</span>
      </span>
    </p>
  )
}

/**
 * What happens to a run that was taken back: ended, or gone on with from before the step. `bar` lays it along the top
 * of the run's page.
 */
export function RollbackChoice({
  run,
  detail,
  rollback,
  fold,
  bar = false,
  onChosen,
}: {
  run: string
  detail: RunDetail
  rollback: RollbackView
  fold: RunFold
  bar?: boolean
  onChosen?: () => void
}) {
  const choose = useRollbackChoice(run)
  const opened = useOpened()
  async function pick(choice: 'end' | 'go_on') {
    try {
      await choose.mutateAsync({ rollback: rollback.id, choice })
      onChosen?.()
    } catch (error) {
      warnOf('The run still waits for your choice', error)
    }
  }
  const place = placeOf(fold, rollback)
  if (opened) return <NobodyChose file={opened.file} bar={bar} />
  const off = !detail.may.operate
  return (
    <section aria-label="What happens to the run" className={cx(bar && barLook)}>
      <div className={cx(bar ? 'flex min-w-0 flex-1 basis-80 items-start gap-2' : 'mb-3')}>
        {bar && (
          <span className="mt-0.5">
            <StateShape state="waiting" />
          </span>
        )}
        <div className="min-w-0">
          <h3 className={cx(bar && 'text-waiting-ink')}>What happens to the run now?</h3>
          <p className={cx('text-ink-2', !bar && 'mt-1')}>
            {onwardWords(fold, place)} Ending leaves everything as it is.
          </p>
        </div>
      </div>
      <div className="flex flex-wrap gap-2 max-md:grid max-md:w-full">
        <Button wraps busy={choose.isPending} disabled={off} onClick={() => void pick('end')}>
          End the run
        </Button>
        <Button wraps busy={choose.isPending} disabled={off} onClick={() => void pick('go_on')}>
          {place === undefined ? 'Go on from the beginning' : `Go on from before ${place}`}
        </Button>
      </div>
      {off && (
        <p className={cx('text-t1 text-ink-3', bar ? 'w-full' : 'mt-2')}>
          Choosing needs the role operator; the run waits for someone who holds it.
        </p>
      )}
    </section>
  )
}
