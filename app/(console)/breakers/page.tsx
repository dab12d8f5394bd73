import type { Metadata } from 'next'
import { Breakers } from '@/components/breakers/breakers-page'

export const metadata: Metadata = { title: 'Breakers' }

export default function BreakersPage() {
  return <Breakers />
}
