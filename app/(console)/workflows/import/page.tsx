import type { Metadata } from 'next'
import { ImportPage } from '@/components/workflows/import-page'

export const metadata: Metadata = { title: 'Import a workflow' }

export default function Page() {
  return <ImportPage />
}
