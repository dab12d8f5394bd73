'use client'
import Link from 'next/link'
import { usePathname } from 'next/navigation'
import type { ReactNode } from 'react'
import { Button } from '@/components/ui/button'
import { EmptyState } from '@/components/ui/empty-state'
import { links } from '@/lib/ui/links'
import { notHeldAt } from './not-held'
import { PageHead } from './page-head'

/** The page, where the bundle has something for it; else why it has not. */
export function HeldPages({ children }: { children: ReactNode }) {
  const notHeld = notHeldAt(usePathname())
  if (!notHeld) return children
  return (
    <div className="flex flex-1 flex-col">
      <PageHead title="Not in this bundle" />
      <EmptyState
        title={notHeld.title}
        action={
          <Button asChild>
            <Link href={links.runs()}>See its runs</Link>
          </Button>
        }
      >
        {notHeld.why}
      </EmptyState>
    </div>
  )
}
