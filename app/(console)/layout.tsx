import type { ReactNode } from 'react'
import { Providers } from '@/components/shell/providers'
import { Shell } from '@/components/shell/shell'

export default function ConsoleLayout({ children }: { children: ReactNode }) {
  return (
    <Providers>
      <Shell>{children}</Shell>
    </Providers>
  )
}
