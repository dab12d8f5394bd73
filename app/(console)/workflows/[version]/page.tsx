import type { Metadata } from 'next'
import { WorkflowPage } from '@/components/workflows/workflow-page'

export const metadata: Metadata = { title: 'Workflow' }

export default async function Page({ params }: { params: Promise<{ version: string }> }) {
  const { version } = await params
  return <WorkflowPage version={version} />
}
