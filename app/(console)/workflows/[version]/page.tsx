import type { Metadata } from 'next'
import { WorkflowPage } from '@/components/workflows/workflow-page'
import { workflowDetailOf } from '@/lib/server/handlers/workflows'
import { keys } from '@/lib/ui/keys'
import { Prefetched } from '../../prefetched'

export const metadata: Metadata = { title: 'Workflow' }

export default async function Page({ params }: { params: Promise<{ version: string }> }) {
  const { version } = await params
  return (
    <Prefetched
      aboutFirst
      read={(installation) => [
        workflowDetailOf(installation, version).then((detail) => [keys.workflow(version), detail]),
      ]}
    >
      <WorkflowPage version={version} />
    </Prefetched>
  )
}
