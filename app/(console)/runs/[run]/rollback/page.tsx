import type { Metadata } from 'next'
import { RollbackPage } from '@/components/rollback/rollback-page'
import { runDetailOf } from '@/lib/server/handlers/runs'
import { runIdFrom } from '@/lib/server/run-id'
import { keys } from '@/lib/ui/keys'
import { Prefetched } from '../../../prefetched'

export const metadata: Metadata = { title: 'Rollback preview' }

export default async function Page({ params }: { params: Promise<{ run: string }> }) {
  const { run } = await params
  return (
    <Prefetched
      aboutFirst
      read={(installation, person) => [
        Promise.resolve(run)
          .then((id) => runDetailOf(installation, person, runIdFrom(id)))
          .then((detail) => [keys.runDetail(run), detail]),
      ]}
    >
      <RollbackPage run={run} />
    </Prefetched>
  )
}
