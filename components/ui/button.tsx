import { Slot } from 'radix-ui'
import type { ComponentProps, ReactNode } from 'react'
import { cx } from './cx'
import { Kbd } from './kbd'

export interface ButtonProps extends ComponentProps<'button'> {
  /** `primary`: the one act of a page. `danger`: takes something away. `quiet`: no edge until hovered. */
  variant?: 'default' | 'primary' | 'danger' | 'quiet'
  /** `md` 32 px, `sm` 28 px; both 48 px on a phone. */
  size?: 'md' | 'sm'
  /** Words that do not fit go on a second line; they are never cut. */
  wraps?: boolean
  /** The key that does the same; drawn only where there is a keyboard to press it on. */
  shortcut?: string
  /** The act is under way: the button stays where it is, says so, and takes no second click. */
  busy?: boolean
  /** Renders the one child (a link) in the button's clothes. */
  asChild?: boolean
  icon?: ReactNode
}

const looks = {
  default: 'border-line-strong bg-surface text-ink hover:bg-hover active:bg-selected font-medium',
  primary:
    'border-primary bg-primary text-on-primary hover:opacity-90 active:opacity-80 font-medium disabled:opacity-100',
  danger: 'border-failed-line bg-surface text-failed-ink hover:bg-failed-wash font-medium',
  quiet: 'border-transparent bg-transparent text-ink-2 hover:bg-hover hover:text-ink font-regular',
}

/** Of a button whose words may take two lines; it is 32 px high while they take one. */
export const wrapping = 'min-h-8 min-w-0 max-w-full text-balance py-[5px] [overflow-wrap:break-word]'

/** The classes of a button, for what must look like one and is none. */
export function buttonClass(
  variant: keyof typeof looks = 'default',
  size: 'md' | 'sm' = 'md',
  wraps = false,
): string {
  return cx(
    'inline-flex select-none items-center justify-center gap-2 rounded-r2 border transition-colors duration-(--quick)',
    wraps ? wrapping : 'shrink-0 whitespace-nowrap',
    wraps ? 'px-3' : size === 'md' ? 'h-8 px-3' : 'h-7 px-2.5',
    'max-md:h-auto max-md:min-h-12 max-md:whitespace-normal max-md:text-balance max-md:py-1',
    looks[variant],
    'disabled:border-line disabled:bg-well disabled:text-ink-3',
  )
}

/** A button. Its words say what happens ("Approve update of edge-router-07"), never "OK". */
export function Button({
  variant = 'default',
  size = 'md',
  wraps = false,
  shortcut,
  busy = false,
  asChild = false,
  icon,
  className,
  children,
  disabled,
  ...rest
}: ButtonProps) {
  const classes = cx(buttonClass(variant, size, wraps), className)
  if (asChild) {
    return (
      <Slot.Root className={classes} {...rest}>
        {children}
      </Slot.Root>
    )
  }
  return (
    <button
      type="button"
      className={classes}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      aria-keyshortcuts={shortcut}
      {...rest}
    >
      {icon}
      {children}
      {shortcut && (
        <span className="max-md:hidden" aria-hidden="true">
          <Kbd quiet={variant === 'primary'}>{shortcut}</Kbd>
        </span>
      )}
    </button>
  )
}

/** A button with an icon alone; `label` is its name for those who cannot see it, and its tooltip. */
export function IconButton({
  label,
  className,
  ...rest
}: Omit<ButtonProps, 'icon' | 'children' | 'aria-label'> & { label: string; children: ReactNode }) {
  return (
    <Button
      variant="quiet"
      size="sm"
      aria-label={label}
      title={label}
      className={cx('aspect-square px-0!', className)}
      {...rest}
    />
  )
}
