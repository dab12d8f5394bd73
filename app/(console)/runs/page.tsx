import type { Metadata } from 'next'
import { Suspense } from 'react'
import { Runs } from '@/components/runs/runs-table'

export const metadata: Metadata = { title: 'Runs' }

export default function RunsPage() {
  return (
    <Suspense>
      <Runs />
    </Suspense>
  )
}
