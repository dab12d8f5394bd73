'use client'
import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { cx } from '@/components/ui/cx'
import type { Json } from '@/lib/base/json'
import { count } from '@/lib/ui/format-time'
import { visibleText } from '@/lib/view/visible-text'

/** Members that are drawn before somebody asks for more, and levels that are open at first. */
const membersAtFirst = 100
const openLevels = 2
/** Characters of a text that are drawn before somebody asks for all of it. */
const textAtFirst = 2_000

/** A JSON value by its structure: what holds something can be closed, and what is closed costs nothing. */
export function JsonTree({ value }: { value: Json }) {
  return (
    <div className="mono leading-5">
      <Value value={value} level={0} />
    </div>
  )
}

function Value({ name, value, level }: { name?: string; value: Json; level: number }) {
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 0) {
    return <Container {...(name !== undefined && { name })} value={value} level={level} />
  }
  return (
    <div className="pl-4">
      <Name name={name} />
      <Scalar value={value} />
    </div>
  )
}

function Name({ name }: { name: string | undefined }) {
  if (name === undefined) return null
  return (
    <>
      <bdi dir="auto" className="text-ink-3">
        {visibleText(name)}
      </bdi>
      <span className="text-ink-3">: </span>
    </>
  )
}

function Container({ name, value, level }: { name?: string; value: object; level: number }) {
  const [open, setOpen] = useState(level < openLevels)
  const [limit, setLimit] = useState(membersAtFirst)
  const isList = Array.isArray(value)
  const entries = open ? Object.entries(value as Record<string, Json>) : []
  const size = isList ? value.length : Object.keys(value).length
  const words = isList ? count(size, 'item') : count(size, 'member')
  return (
    <div>
      <button
        type="button"
        aria-expanded={open}
        className="ring-inside flex max-w-full items-center rounded-r1 text-left hover:bg-hover max-md:min-h-8"
        onClick={() => setOpen(!open)}
      >
        <ChevronRight
          size={12}
          strokeWidth={1.5}
          aria-hidden="true"
          className={cx(
            'mr-1 shrink-0 text-ink-3 transition-transform duration-(--quick)',
            open && 'rotate-90',
          )}
        />
        <span className="truncate">
          <Name name={name} />
          <span className="text-ink-3">{isList ? `[ ${words} ]` : `{ ${words} }`}</span>
        </span>
      </button>
      {open && (
        <div className="ml-[5px] border-l pl-2.5">
          {entries.slice(0, limit).map(([member, inner]) => (
            <Value key={member} name={member} value={inner} level={level + 1} />
          ))}
          {size > limit && (
            <button
              type="button"
              className="ring-inside rounded-r1 pl-4 text-ink-2 underline decoration-ink-4 underline-offset-4 max-md:min-h-12"
              onClick={() => setLimit(limit * 5)}
            >
              Show {count(Math.min(size - limit, limit * 4), 'more', 'more')} of {size.toLocaleString('en')}
            </button>
          )}
        </div>
      )}
    </div>
  )
}

function Scalar({ value }: { value: Json }) {
  const [all, setAll] = useState(false)
  if (typeof value !== 'string') {
    return (
      <span className="text-ink">
        {value !== null && typeof value === 'object' ? emptyOf(value) : String(value)}
      </span>
    )
  }
  const text = all ? value : value.slice(0, textAtFirst)
  return (
    <>
      <bdi
        dir="auto"
        className={cx(
          'text-ink [overflow-wrap:anywhere]',
          value.includes('\n') && 'block whitespace-pre-wrap',
        )}
      >
        {value.includes('\n') ? visibleText(text) : `"${visibleText(text)}"`}
      </bdi>
      {text.length < value.length && (
        <button
          type="button"
          className="ring-inside ml-2 rounded-r1 text-ink-2 underline decoration-ink-4 underline-offset-4"
          onClick={() => setAll(true)}
        >
          {count(value.length - text.length, 'more character')}
        </button>
      )}
    </>
  )
}

const emptyOf = (value: object) => (Array.isArray(value) ? '[ empty ]' : '{ empty }')
