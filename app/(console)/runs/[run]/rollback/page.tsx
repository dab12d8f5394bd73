import type { Metadata } from 'next'
import { RollbackPage } from '@/components/rollback/rollback-page'

export const metadata: Metadata = { title: 'Rollback preview' }

export default async function Page({ params }: { params: Promise<{ run: string }> }) {
  const { run } = await params
  return <RollbackPage run={run} />
}
