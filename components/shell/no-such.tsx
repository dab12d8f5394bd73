'use client'
import Link from 'next/link'
import { useParams, useSearchParams } from 'next/navigation'
import type { ReactNode } from 'react'
import { Button } from '@/components/ui/button'
import { EmptyState } from '@/components/ui/empty-state'
import { links } from '@/lib/ui/links'
import { PageHead } from './page-head'

/** An address may be anything; of what it names so much is repeated. */
const shownChars = 48

function shown(text: string): string {
  return text.length > shownChars ? `${text.slice(0, shownChars - 1)}…` : text
}

/** Next hands out what stands in the address as it stands there. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function NoSuch({
  room,
  title,
  href,
  list,
  children,
}: {
  room: string
  title: string
  href: string
  list: string
  children: ReactNode
}) {
  return (
    <div className="flex flex-1 flex-col [overflow-wrap:anywhere]">
      <PageHead title={room} />
      <EmptyState
        title={title}
        action={
          <Button asChild>
            <Link href={href}>{list}</Link>
          </Button>
        }
      >
        {children}
      </EmptyState>
    </div>
  )
}

/** Where the address names a run that is not here. */
export function NoSuchRun() {
  const { run } = useParams<{ run?: string }>()
  return (
    <NoSuch
      room="Runs"
      title={`There is no run ${shown(decoded(run ?? ''))}`}
      href={links.runs()}
      list="See all runs"
    >
      Its id may be mistyped or cut short, or the run may be in another installation or data folder.
    </NoSuch>
  )
}

/** Where the address names a version of a workflow that is not here. */
export function NoSuchWorkflow() {
  const { version } = useParams<{ version?: string }>()
  return (
    <NoSuch
      room="Workflows"
      title={`There is no workflow version ${shown(decoded(version ?? ''))}`}
      href={links.workflows}
      list="See all workflows"
    >
      The version may be mistyped or cut short, or it was imported into another installation; import its text
      here to use it.
    </NoSuch>
  )
}

/** Where the address names a question that nobody asked here. */
export function NoSuchApproval() {
  const item = useSearchParams().get('item') ?? ''
  return (
    <NoSuch
      room="Approvals"
      title={`There is no approval ${shown(item)}`}
      href={links.approvals()}
      list="See what waits for a decision"
    >
      Its id may be mistyped or cut short, or it was asked in another installation. What has been decided
      stays here, under “Decided”.
    </NoSuch>
  )
}

/** Where an address leads nowhere. */
export function NoSuchPage() {
  return (
    <NoSuch
      room="No such page"
      title="There is no page at this address"
      href={links.overview}
      list="Open the overview"
    >
      The address may be mistyped, or from another version of Holdpoint.
    </NoSuch>
  )
}
