import type { Metadata } from 'next'
import { Button } from '@/components/ui/button'
import { EmptyState } from '@/components/ui/empty-state'
import { links } from '@/lib/ui/links'

export const metadata: Metadata = { title: 'No such page' }

/** An address of the console that leads nowhere, inside the shell: the way on is one click. */
export default function NotFound() {
  return (
    <EmptyState
      title="There is no such page"
      action={
        <Button asChild>
          <a href={links.overview}>Open the overview</a>
        </Button>
      }
    >
      The address may be mistyped, or what it named may be gone.
    </EmptyState>
  )
}
