import { PageHead } from '@/components/shell/page-head'

export default function RunsPage() {
  return <PageHead title="Runs" />
}
