import Link from 'next/link'
import { links } from '@/lib/ui/links'
import { shortId } from '@/lib/ui/short-id'

/** A run by its workflow's name and its short id, and the way to it. */
export function RunName({ run, workflow }: { run: string; workflow: string | undefined }) {
  return (
    <Link
      href={links.run(run)}
      title={run}
      className="underline decoration-line-strong underline-offset-4 hover:decoration-ink"
    >
      {workflow} <span className="mono">{shortId(run)}</span>
    </Link>
  )
}
