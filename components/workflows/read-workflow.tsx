import type { ReactNode } from 'react'
import { ErrorNote } from '@/components/ui/error-note'
import { Skeleton } from '@/components/ui/skeleton'
import { useWorkflow } from '@/lib/ui/workflow-queries'
import type { WorkflowDetail } from '@/lib/view/workflow-wire'

/** Reads one version of a workflow, and shows `children` of it once it is there. */
export function ReadWorkflow({
  version,
  children,
}: {
  version: string
  children: (workflow: WorkflowDetail) => ReactNode
}) {
  const query = useWorkflow(version)
  if (query.isError && !query.data) {
    return (
      <ErrorNote
        title="This workflow could not be read"
        error={query.error}
        onRetry={() => void query.refetch()}
      />
    )
  }
  if (!query.data) return <Skeleton what="the workflow" lines={6} row={44} />
  return children(query.data)
}
