'use client'
import { type ReactNode, useId } from 'react'
import { OpenMark } from './open-mark'

/** A line that opens what stands below it, which is there only while it is open. */
export function Disclosure({
  title,
  open,
  onOpen,
  children,
}: {
  title: ReactNode
  open: boolean
  onOpen: (open: boolean) => void
  children: ReactNode
}) {
  const below = useId()
  return (
    <>
      <button
        type="button"
        aria-expanded={open}
        aria-controls={open ? below : undefined}
        onClick={() => onOpen(!open)}
        className="-ml-1 flex min-h-7 items-center gap-1 rounded-r1 px-1 text-left hover:bg-hover max-md:min-h-12"
      >
        <OpenMark open={open} />
        <span className="min-w-0 [overflow-wrap:anywhere]">{title}</span>
      </button>
      {open && (
        <div id={below} className="mb-2 mt-1">
          {children}
        </div>
      )}
    </>
  )
}
