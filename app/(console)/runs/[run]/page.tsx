import type { Metadata } from 'next'
import { RunPage } from '@/components/run/run-page'

export const metadata: Metadata = { title: 'Run' }

export default async function Page({ params }: { params: Promise<{ run: string }> }) {
  const { run } = await params
  return <RunPage run={run} />
}
