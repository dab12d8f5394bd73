import type { Metadata } from 'next'
import { WorkflowList } from '@/components/workflows/workflow-list'
import { workflowPage } from '@/lib/server/handlers/workflows'
import { keys } from '@/lib/ui/keys'
import { Prefetched } from '../prefetched'

export const metadata: Metadata = { title: 'Workflows' }

export default function Page() {
  return (
    <Prefetched read={(installation) => [workflowPage(installation).then((page) => [keys.workflows, page])]}>
      <WorkflowList />
    </Prefetched>
  )
}
