import { PageHead } from '@/components/shell/page-head'

export default function OverviewPage() {
  return <PageHead title="Overview" />
}
