import { Button } from '@/components/ui/button'
import { Notice } from '@/components/ui/notice'
import { useApprovalNow } from '@/lib/ui/queries'
import { untoldWords, type WhyUntold } from './untold-words'

/** The target was looked at, and that told nothing: so it says, above what is shown, with a way to look again. */
export function Untold({ approval, why, changed }: { approval: string; why: WhyUntold; changed: boolean }) {
  // The card around it has it looked at; here it is only asked for once more.
  const now = useApprovalNow(approval, false)
  const { words, approving, reason } = untoldWords(why, changed)
  return (
    <Notice label="Not known whether it changed" state="unknown">
      <div className="min-w-0 flex-1 basis-60 [overflow-wrap:anywhere]">
        <p>
          <b>{words}</b> {approving}
        </p>
        <p className="mt-0.5 text-t1 text-ink-3">{reason}</p>
      </div>
      <Button size="sm" busy={now.isFetching} onClick={() => void now.refetch()}>
        Look again
      </Button>
    </Notice>
  )
}
