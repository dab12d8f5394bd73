import { Button } from '@/components/ui/button'
import { StateShape } from '@/components/ui/state'
import { useApprovalNow } from '@/lib/ui/queries'
import { untoldWords } from './untold-words'

/** The target was looked at, and that told nothing: so it says, above what is shown, with a way to look again. */
export function Untold({ approval, why, changed }: { approval: string; why: string; changed: boolean }) {
  // The card around it has it looked at; here it is only asked for once more.
  const now = useApprovalNow(approval, false)
  const { words, approving, reason } = untoldWords(why, changed)
  return (
    <div
      role="note"
      aria-label="Not known whether it changed"
      className="mb-2 flex flex-wrap items-start gap-x-3 gap-y-2 rounded-r2 border border-ink-3 px-3 py-2"
    >
      <span className="mt-0.5">
        <StateShape state="unknown" />
      </span>
      <div className="min-w-0 flex-1 basis-60 [overflow-wrap:anywhere]">
        <p>
          <b>{words}</b> {approving}
        </p>
        {reason && <p className="mt-0.5 text-t1 text-ink-3">{reason}</p>}
      </div>
      <Button size="sm" busy={now.isFetching} onClick={() => void now.refetch()}>
        Look again
      </Button>
    </div>
  )
}
