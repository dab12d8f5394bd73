'use client'
import { DropdownMenu as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { cx } from './cx'

const item =
  'flex min-h-8 cursor-default select-none items-center gap-2 rounded-r1 px-2 py-1 outline-none data-[highlighted]:bg-selected data-[disabled]:text-ink-3 max-md:min-h-12'

/**
 * A menu that opens from one button; its items are the `Menu…` parts below. It is drawn beside its button, inside the
 * landmark that holds both, and the page behind it stays readable.
 */
export function Menu({
  trigger,
  children,
  align = 'end',
  within,
  ...opened
}: {
  /** One focusable element. */
  trigger: ReactNode
  children: ReactNode
  align?: 'start' | 'end'
  /** Where it is drawn instead of beside its button: what the button stands in is drawn smaller, or cuts it off. */
  within?: HTMLElement | null
  /** Who opens it besides its button. */
  open?: boolean
  onOpenChange?: (open: boolean) => void
}) {
  const content = (
    <Radix.Content
      align={align}
      sideOffset={6}
      collisionPadding={8}
      className="motion-fade z-50 max-h-(--radix-dropdown-menu-content-available-height) min-w-48 max-w-80 overflow-y-auto rounded-r2 border border-line-strong bg-surface p-1"
    >
      {children}
    </Radix.Content>
  )
  return (
    <Radix.Root modal={false} {...opened}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      {within === undefined ? content : <Radix.Portal container={within}>{content}</Radix.Portal>}
    </Radix.Root>
  )
}

export function MenuItem({
  children,
  onSelect,
  disabled = false,
  danger = false,
}: {
  children: ReactNode
  onSelect: () => void
  disabled?: boolean
  danger?: boolean
}) {
  return (
    <Radix.Item className={cx(item, danger && 'text-failed-ink')} disabled={disabled} onSelect={onSelect}>
      {children}
    </Radix.Item>
  )
}

/** An item that is a link: `children` is the one link element. */
export function MenuLink({ children }: { children: ReactNode }) {
  return (
    <Radix.Item asChild className={item}>
      {children}
    </Radix.Item>
  )
}

/** One choice out of a few; the chosen one wears a tick. */
export function MenuChoice<T extends string>({
  label,
  value,
  choices,
  onChange,
}: {
  label: string
  value: T
  choices: { value: T; word: string }[]
  onChange: (value: T) => void
}) {
  return (
    <>
      <Radix.Label className="px-2 pb-1 pt-1.5 text-t1 text-ink-3">{label}</Radix.Label>
      <Radix.RadioGroup value={value} onValueChange={(next) => onChange(next as T)}>
        {choices.map((choice) => (
          <Radix.RadioItem key={choice.value} value={choice.value} className={item}>
            <span className="flex-1">{choice.word}</span>
            <Radix.ItemIndicator>
              <svg
                viewBox="0 0 16 16"
                className="size-4 fill-none stroke-ink stroke-[1.75]"
                aria-hidden="true"
              >
                <path d="M3 8.5l3.25 3.25L13 4.75" />
              </svg>
            </Radix.ItemIndicator>
          </Radix.RadioItem>
        ))}
      </Radix.RadioGroup>
    </>
  )
}

export function MenuLabel({ children }: { children: ReactNode }) {
  return <Radix.Label className="px-2 py-1.5">{children}</Radix.Label>
}

export function MenuLine() {
  return <Radix.Separator className="mx-0 my-1 h-px bg-line" />
}
