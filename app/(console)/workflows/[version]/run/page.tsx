import type { Metadata } from 'next'
import { StartRunPage } from '@/components/workflows/start-run-page'

export const metadata: Metadata = { title: 'Run a workflow' }

export default async function Page({ params }: { params: Promise<{ version: string }> }) {
  const { version } = await params
  return <StartRunPage version={version} />
}
