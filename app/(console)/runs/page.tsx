import type { Metadata } from 'next'
import { filterOf } from '@/components/runs/run-filter'
import { Runs } from '@/components/runs/runs-table'
import { runPage } from '@/lib/server/handlers/runs'
import { workflowPage } from '@/lib/server/handlers/workflows'
import { keys } from '@/lib/ui/keys'
import { runsPerPage } from '@/lib/ui/page-sizes'
import { firstPage, Prefetched } from '../prefetched'

export const metadata: Metadata = { title: 'Runs' }

export default async function RunsPage({
  searchParams,
}: {
  searchParams: Promise<Record<string, string | string[] | undefined>>
}) {
  const asked = await searchParams
  const filter = filterOf({ get: (name) => [asked[name] ?? null].flat()[0] ?? null })
  return (
    <Prefetched
      read={(installation) => [
        runPage(installation, filter, { limit: runsPerPage }).then((page) => [
          keys.runList(filter),
          firstPage(page),
        ]),
        // What the filter offers.
        workflowPage(installation).then((page) => [keys.workflows, page]),
      ]}
    >
      <Runs />
    </Prefetched>
  )
}
