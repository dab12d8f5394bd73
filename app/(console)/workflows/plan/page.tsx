import type { Metadata } from 'next'
import { PlanPage } from '@/components/workflows/plan-page'

export const metadata: Metadata = { title: 'Plan from a goal' }

export default function Page() {
  return <PlanPage />
}
