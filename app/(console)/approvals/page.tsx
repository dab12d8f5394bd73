import type { Metadata } from 'next'
import { Suspense } from 'react'
import { Inbox } from '@/components/approvals/inbox'

export const metadata: Metadata = { title: 'Approvals' }

export default function ApprovalsPage() {
  return (
    <Suspense>
      <Inbox />
    </Suspense>
  )
}
