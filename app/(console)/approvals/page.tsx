import type { Metadata } from 'next'
import { Inbox } from '@/components/approvals/inbox'
import { byUrgency } from '@/components/approvals/urgency'
import { approvalCard, approvalPage } from '@/lib/server/handlers/approvals'
import { keys } from '@/lib/ui/keys'
import { approvalsPerPage } from '@/lib/ui/page-sizes'
import { firstPage, Prefetched } from '../prefetched'

export const metadata: Metadata = { title: 'Approvals' }

export default async function ApprovalsPage({
  searchParams,
}: {
  searchParams: Promise<Record<string, string | string[] | undefined>>
}) {
  const { show: asked, item } = await searchParams
  const show = asked === 'decided' ? 'decided' : 'open'
  return (
    <Prefetched
      aboutFirst={typeof item === 'string'}
      read={(installation, person) => {
        const list = approvalPage(installation, person, show, { limit: approvalsPerPage })
        const chosen =
          typeof item === 'string'
            ? Promise.resolve(item)
            : list.then(({ items }) => (show === 'open' ? byUrgency(items) : items)[0]?.id ?? '')
        return [
          chosen.then(async (id) => [keys.approvalCard(id), await approvalCard(installation, person, id)]),
          list.then((page) => [keys.approvalList(show), firstPage(page)]),
        ]
      }}
    >
      <Inbox />
    </Prefetched>
  )
}
