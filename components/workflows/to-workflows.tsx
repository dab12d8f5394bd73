import { ChevronLeft } from 'lucide-react'
import Link from 'next/link'
import { links } from '@/lib/ui/links'

/** The way back to the list, at the head of a page below it. */
export function ToWorkflows() {
  return (
    <Link
      href={links.workflows}
      className="-ml-1 flex items-center gap-1 rounded-r1 text-ink-3 hover:text-ink max-md:h-11"
    >
      <ChevronLeft size={16} strokeWidth={1.5} aria-hidden="true" />
      Workflows
    </Link>
  )
}
