import type { Metadata } from 'next'
import { Bulkheads } from '@/components/pools/bulkheads-page'

export const metadata: Metadata = { title: 'Bulkheads' }

export default function BulkheadsPage() {
  return <Bulkheads />
}
