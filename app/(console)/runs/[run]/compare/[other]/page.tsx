import type { Metadata } from 'next'
import { ComparePage } from '@/components/compare/compare-page'
import { runDetailOf } from '@/lib/server/handlers/runs'
import { runIdFrom } from '@/lib/server/run-id'
import { keys } from '@/lib/ui/keys'
import { Prefetched } from '../../../../prefetched'

export const metadata: Metadata = { title: 'Compare two runs' }

export default async function Page({ params }: { params: Promise<{ run: string; other: string }> }) {
  const { run, other } = await params
  return (
    <Prefetched
      aboutFirst
      read={(installation, person) =>
        [run, other].map((id) =>
          Promise.resolve(id)
            .then((one) => runDetailOf(installation, person, runIdFrom(one)))
            .then((detail) => [keys.runDetail(id), detail]),
        )
      }
    >
      <ComparePage run={run} other={other} />
    </Prefetched>
  )
}
