import type { ComponentProps, ReactNode } from 'react'
import { StateShape } from './state'

/** What a person should know before they read on: a frame with a shape, above what it is about. `label`: its name for readers. */
export function Notice({
  label,
  state,
  children,
}: {
  label: string
  state: ComponentProps<typeof StateShape>['state']
  children: ReactNode
}) {
  return (
    <div
      role="note"
      aria-label={label}
      className="mb-2 flex flex-wrap items-start gap-x-3 gap-y-2 rounded-r2 border border-ink-3 px-3 py-2"
    >
      <span className="mt-0.5">
        <StateShape state={state} />
      </span>
      {children}
    </div>
  )
}
