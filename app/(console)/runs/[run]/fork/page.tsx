import type { Metadata } from 'next'
import { ForkPage } from '@/components/forks/fork-page'
import { forkPlan } from '@/lib/server/forks'
import { runDetailOf } from '@/lib/server/handlers/runs'
import { runIdFrom } from '@/lib/server/run-id'
import { keys } from '@/lib/ui/keys'
import { type FirstAnswer, Prefetched } from '../../../prefetched'

export const metadata: Metadata = { title: 'Fork' }

interface Asked {
  params: Promise<{ run: string }>
  searchParams: Promise<{ at?: string | string[]; version?: string | string[] }>
}

export default async function Page({ params, searchParams }: Asked) {
  const { run } = await params
  const asked = await searchParams
  const at = typeof asked.at === 'string' && /^[1-9]\d{0,6}$/.test(asked.at) ? Number(asked.at) : undefined
  const version = typeof asked.version === 'string' ? asked.version : undefined
  return (
    <Prefetched
      aboutFirst
      read={(installation, person) => [
        Promise.resolve(run)
          .then((id) => runDetailOf(installation, person, runIdFrom(id)))
          .then((detail) => [keys.runDetail(run), detail]),
        ...(at === undefined
          ? []
          : [
              Promise.resolve(run)
                .then((id) =>
                  forkPlan(installation, runIdFrom(id), { at, ...(version !== undefined && { version }) }),
                )
                .then((plan): FirstAnswer => [keys.forkPlan(run, at, version ?? ''), plan]),
            ]),
      ]}
    >
      <ForkPage run={run} />
    </Prefetched>
  )
}
