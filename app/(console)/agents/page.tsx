import type { Metadata } from 'next'
import { Suspense } from 'react'
import { Agents } from '@/components/agents/agents-page'

export const metadata: Metadata = { title: 'Agents' }

export default function AgentsPage() {
  return (
    <Suspense>
      <Agents />
    </Suspense>
  )
}
