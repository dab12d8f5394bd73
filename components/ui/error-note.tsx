'use client'
import { sentenceOf } from '@/lib/ui/api'
import { Button } from './button'
import { StateShape } from './state'

/** What went wrong, what it means, and the way on. `means` says what it does to the runs. */
export function ErrorNote({
  title,
  error,
  means,
  onRetry,
}: {
  title: string
  error: unknown
  means?: string
  onRetry?: () => void
}) {
  return (
    <div role="alert" className="flex gap-2 border-b p-4">
      <span className="mt-0.5">
        <StateShape state="failed" />
      </span>
      <div className="min-w-0">
        <p className="font-medium">{title}</p>
        <p className="mt-1 text-ink-2 [overflow-wrap:anywhere]">
          {withStop(sentenceOf(error))} {means}
        </p>
        {onRetry && (
          <Button size="sm" className="mt-3" onClick={onRetry}>
            Try again
          </Button>
        )}
      </div>
    </div>
  )
}

/** Another sentence follows it. */
function withStop(sentence: string): string {
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`
}
