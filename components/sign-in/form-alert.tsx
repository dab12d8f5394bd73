import type { ReactNode } from 'react'
import { StateShape } from '@/components/ui/state'

/** What went wrong with the whole form. Present from the start, so that readers announce what comes into it. */
export function FormAlert({ children }: { children: ReactNode }) {
  return (
    <div role="alert">
      {children && (
        <p className="mb-4 flex gap-2 rounded-r2 border border-failed-line bg-failed-wash p-2 text-failed-ink">
          <span className="mt-0.5">
            <StateShape state="failed" />
          </span>
          <span className="min-w-0">{children}</span>
        </p>
      )}
    </div>
  )
}
