import { PageHead } from '@/components/shell/page-head'

export default function ApprovalsPage() {
  return <PageHead title="Approvals" />
}
