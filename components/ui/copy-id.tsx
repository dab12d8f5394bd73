'use client'
import { useEffect, useRef, useState } from 'react'
import { shortId } from '@/lib/ui/short-id'
import { cx } from './cx'

/** An id or hash: short in the middle, whole on hover, copied on click. */
export function CopyId({
  id,
  what = 'id',
  className,
}: {
  id: string
  /** What it is, for the button's name: "run id", "digest". */
  what?: string
  className?: string
}) {
  const [copied, setCopied] = useState(false)
  const timer = useRef<number>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  async function copy() {
    try {
      await navigator.clipboard.writeText(id)
    } catch {
      // No clipboard on plain http of another machine: the title still shows it whole.
      return
    }
    setCopied(true)
    clearTimeout(timer.current)
    timer.current = window.setTimeout(() => setCopied(false), 1200)
  }
  return (
    <button
      type="button"
      title={id}
      aria-label={`Copy ${what} ${id}`}
      onClick={copy}
      className={cx(
        'mono relative whitespace-nowrap rounded-r1 decoration-ink-4 underline-offset-4 hover:underline',
        className,
      )}
    >
      <span className={copied ? 'invisible' : ''}>{shortId(id)}</span>
      {copied && <span className="absolute inset-0 text-left font-sans text-done-ink">copied</span>}
      <span className="sr-only" aria-live="polite">
        {copied ? `Copied ${what}` : ''}
      </span>
    </button>
  )
}
