import type { Metadata } from 'next'
import { Breakers } from '@/components/breakers/breakers-page'
import { circuitDetail, listCircuits } from '@/lib/server/circuits'
import { keys } from '@/lib/ui/keys'
import { firstPage, Prefetched } from '../prefetched'

export const metadata: Metadata = { title: 'Breakers' }

export default async function BreakersPage({
  searchParams,
}: {
  searchParams: Promise<Record<string, string | string[] | undefined>>
}) {
  const { circuit } = await searchParams
  return (
    <Prefetched
      read={(installation) => [
        listCircuits(installation).then((list) => [keys.circuitList, list]),
        ...(typeof circuit === 'string'
          ? [
              circuitDetail(installation, circuit).then((detail): [readonly string[], unknown] => [
                keys.circuit(circuit),
                firstPage(detail),
              ]),
            ]
          : []),
      ]}
    >
      <Breakers />
    </Prefetched>
  )
}
