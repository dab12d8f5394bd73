'use client'
import type { ReactNode } from 'react'
import { ErrorNote } from '@/components/ui/error-note'
import { Skeleton } from '@/components/ui/skeleton'
import { useValue } from '@/lib/ui/run-queries'
import type { ValueView } from '@/lib/view/run-wire'

/** Fetches the value behind a hash when it comes into view, and shows `children` of it. `what`: "test_report", "output". */
export function ReadValue({
  run,
  hash,
  what,
  children,
}: {
  run: string
  hash: string
  what: string
  children: (value: ValueView) => ReactNode
}) {
  const value = useValue(run, hash)
  if (value.isError) {
    return (
      <ErrorNote
        title={`The ${what} could not be read`}
        error={value.error}
        onRetry={() => void value.refetch()}
      />
    )
  }
  if (!value.data) return <Skeleton what={`the ${what}`} />
  return children(value.data)
}
