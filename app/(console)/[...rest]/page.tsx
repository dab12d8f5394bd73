import type { Metadata } from 'next'
import { notFound } from 'next/navigation'

export const metadata: Metadata = { title: 'No such page' }

/** Any other address: signed-in people are told inside the console, strangers are led to the sign-in first. */
export default function NowherePage() {
  notFound()
}
