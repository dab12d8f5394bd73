'use client'
import { QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Toaster } from '@/components/ui/toast'
import { LiveContext, useLiveStream } from '@/lib/ui/live'
import { makeQueryClient } from '@/lib/ui/query-client'

/** What every page of the console stands on: the kept answers, the live stream and toasts. */
export function Providers({ children }: { children: ReactNode }) {
  const [client] = useState(makeQueryClient)
  return (
    <QueryClientProvider client={client}>
      <LiveProvider>
        {children}
        <Toaster />
      </LiveProvider>
    </QueryClientProvider>
  )
}

function LiveProvider({ children }: { children: ReactNode }) {
  return <LiveContext value={useLiveStream()}>{children}</LiveContext>
}
