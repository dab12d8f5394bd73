import type { Metadata } from 'next'
import { RunPage } from '@/components/run/run-page'
import { ledgerPage, runDetailOf } from '@/lib/server/handlers/runs'
import { runIdFrom } from '@/lib/server/run-id'
import { keys } from '@/lib/ui/keys'
import { Prefetched } from '../../prefetched'

export const metadata: Metadata = { title: 'Run' }

/** Tokens that travel with the page, about 1 kB each; a longer ledger is asked for by the browser, page by page. */
const tokensWithPage = 100

export default async function Page({ params }: { params: Promise<{ run: string }> }) {
  const { run } = await params
  return (
    <Prefetched
      aboutFirst
      read={(installation, person) => {
        const detail = Promise.resolve(run).then((id) => runDetailOf(installation, person, runIdFrom(id)))
        return [
          detail.then((data) => [keys.runDetail(run), data]),
          detail
            .then(() => ledgerPage(installation, runIdFrom(run), 0, tokensWithPage))
            .then((page) => [keys.runLedger(run), page]),
        ]
      }}
    >
      <RunPage run={run} />
    </Prefetched>
  )
}
