'use client'
import { QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Toaster } from '@/components/ui/toast'
import { LiveContext, useLiveStream } from '@/lib/ui/live'
import { StoppedClock } from '@/lib/ui/now'
import { OpenedContext } from '@/lib/ui/opened'
import { makeQueryClient } from '@/lib/ui/query-client'
import type { OpenedBundle } from '@/lib/view/bundle-wire'

/** What every page of the console stands on: the kept answers, the live stream and toasts. */
export function Providers({ opened, children }: { opened: OpenedBundle | undefined; children: ReactNode }) {
  const [client] = useState(makeQueryClient)
  const page = (
    <>
      {children}
      <Toaster />
    </>
  )
  return (
    <QueryClientProvider client={client}>
      {opened ? (
        // Nothing goes on in a bundle: no stream, and what is under way is counted to its moment.
        <OpenedContext value={opened}>
          <StoppedClock value={opened.at}>{page}</StoppedClock>
        </OpenedContext>
      ) : (
        <LiveProvider>{page}</LiveProvider>
      )}
    </QueryClientProvider>
  )
}

function LiveProvider({ children }: { children: ReactNode }) {
  return <LiveContext value={useLiveStream()}>{children}</LiveContext>
}
