import type { Metadata } from 'next'
import { EntryFrame } from '@/components/sign-in/entry-frame'
import { buttonClass } from '@/components/ui/button'
import { links } from '@/lib/ui/links'

export const metadata: Metadata = { title: 'No such page' }

/** An address that leads nowhere, outside the console: it tells a stranger nothing but the way in. */
export default function NotFound() {
  return (
    <EntryFrame title="There is no such page">
      <p className="mb-4 text-ink-2">The address may be mistyped, or what it named may be gone.</p>
      <a href={links.overview} className={buttonClass('primary')}>
        Open the overview
      </a>
    </EntryFrame>
  )
}
