import type { Metadata } from 'next'
import { StartRunPage } from '@/components/workflows/start-run-page'
import { workflowDetailOf } from '@/lib/server/handlers/workflows'
import { keys } from '@/lib/ui/keys'
import { Prefetched } from '../../../prefetched'

export const metadata: Metadata = { title: 'Run a workflow' }

export default async function Page({ params }: { params: Promise<{ version: string }> }) {
  const { version } = await params
  return (
    <Prefetched
      aboutFirst
      read={(installation) => [
        workflowDetailOf(installation, version).then((detail) => [keys.workflow(version), detail]),
      ]}
    >
      <StartRunPage version={version} />
    </Prefetched>
  )
}
