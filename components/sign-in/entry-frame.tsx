import type { ReactNode } from 'react'
import { BrandMark } from '@/components/ui/icons'

/** The page before the console: the mark, one sentence, and the one thing to do. */
export function EntryFrame({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="flex min-h-dvh flex-col items-center bg-canvas px-4 py-10 md:pt-[16dvh]">
      <div className="w-full max-w-[360px]">
        <p className="mb-6 flex items-center gap-2 font-medium tracking-[-0.01em]">
          <BrandMark />
          Holdpoint
        </p>
        <div className="rounded-r2 border bg-surface p-6 max-md:p-4">
          <h1 className="mb-4 text-t3 tracking-[-0.01em] [text-wrap:balance]">{title}</h1>
          {children}
        </div>
      </div>
    </main>
  )
}
