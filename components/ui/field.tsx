'use client'
import { type ComponentProps, type ReactNode, useId } from 'react'
import { cx } from './cx'

interface FieldIds {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': true | undefined
}

/**
 * A label, a control, one sentence of help and, when it is wrong, one sentence that says how to mend it. The control is
 * made by `children`, which gets the ids that tie the four together: `{(ids) => <Input {...ids} />}`.
 */
export function Field({
  label,
  help,
  error,
  optional = false,
  children,
}: {
  label: string
  help?: ReactNode
  error?: string | undefined
  optional?: boolean
  children: (ids: FieldIds) => ReactNode
}) {
  const id = useId()
  const described = [help && `${id}-help`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-t1 text-ink-2">
        {label}
        {optional && <span className="text-ink-3"> (optional)</span>}
      </label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error ? true : undefined })}
      {help && (
        <p id={`${id}-help`} className="text-t1 text-ink-3">
          {help}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} role="alert" className="text-t1 text-failed-ink">
          {error}
        </p>
      )}
    </div>
  )
}

const control =
  'w-full rounded-r2 border border-line-strong bg-surface px-2.5 text-ink aria-invalid:border-failed-mark disabled:border-line disabled:bg-well disabled:text-ink-3'

export function Input({ className, ...rest }: ComponentProps<'input'>) {
  return <input className={cx(control, 'h-8 max-md:h-12 max-md:text-[16px]', className)} {...rest} />
}

export function Textarea({ className, ...rest }: ComponentProps<'textarea'>) {
  return <textarea className={cx(control, 'min-h-16 py-1.5 max-md:text-[16px]', className)} {...rest} />
}

/** A native select: it is the quickest one on every keyboard and every phone. */
export function Select({ className, children, ...rest }: ComponentProps<'select'>) {
  return (
    <span className={cx('relative inline-flex', className)}>
      <select className={cx(control, 'h-8 appearance-none pr-7 max-md:h-12 max-md:text-[16px]')} {...rest}>
        {children}
      </select>
      <svg
        aria-hidden="true"
        viewBox="0 0 16 16"
        className="pointer-events-none absolute right-2 top-1/2 size-4 -translate-y-1/2 fill-none stroke-ink-3 stroke-[1.5]"
      >
        <path d="M4 6.5l4 4 4-4" />
      </svg>
    </span>
  )
}
