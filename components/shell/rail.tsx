'use client'
import { Ellipsis } from 'lucide-react'
import Link from 'next/link'
import { usePathname } from 'next/navigation'
import { cx } from '@/components/ui/cx'
import { Menu, MenuLink } from '@/components/ui/menu'
import { links } from '@/lib/ui/links'
import { useOpened } from '@/lib/ui/opened'
import { useOverview } from '@/lib/ui/queries'
import { isInRoom, type Room, roomsOf } from './rooms'

/** How many questions are open; the one amber figure of the shell. */
function WaitingCount({ className }: { className?: string }) {
  const waiting = useOverview().data?.counts.waiting ?? 0
  if (waiting === 0) return null
  return (
    <span
      className={cx(
        'mono rounded-r1 bg-waiting-wash px-[5px] font-medium leading-[18px] text-waiting-ink shadow-[inset_0_0_0_1px_var(--waiting-line)]',
        className,
      )}
    >
      {waiting > 999 ? '999+' : waiting}
      <span className="sr-only"> waiting</span>
    </span>
  )
}

const onPhone =
  'max-md:h-14 max-md:min-w-0 max-md:flex-1 max-md:flex-col max-md:justify-center max-md:gap-1 max-md:rounded-none max-md:text-t1'
const hereLook = 'font-medium text-ink max-md:shadow-[inset_0_2px_0_var(--ink)] md:bg-selected'
const elsewhereLook = 'text-ink-2 hover:bg-hover [&>svg]:text-ink-3'

/** The rooms at the side; on a phone, along the foot. */
export function Rail() {
  const pathname = usePathname()
  const rooms = roomsOf(useOpened() !== undefined)
  return (
    <nav
      aria-label="Main"
      className="flex gap-px border-r p-2 max-md:order-last max-md:gap-0 max-md:border-r-0 max-md:border-t max-md:px-1 max-md:py-0 max-md:pb-[env(safe-area-inset-bottom)] md:flex-col max-md:group-has-[[data-phone-page]]/shell:hidden"
    >
      {rooms.map((room) => {
        const here = isInRoom(pathname, room.href)
        return (
          <Link
            key={room.href}
            href={room.href}
            aria-current={here ? 'page' : undefined}
            className={cx(
              'ring-inside relative flex items-center rounded-r2 md:h-8 md:gap-2 md:px-2',
              room.href === links.settings() && 'md:mt-auto',
              room.isLess ? 'max-md:hidden' : onPhone,
              here ? hereLook : elsewhereLook,
            )}
          >
            {room.icon}
            {room.word}
            {room.href === '/approvals' && (
              <WaitingCount className="max-md:absolute max-md:left-[calc(50%+6px)] max-md:top-1.5 md:ml-auto" />
            )}
          </Link>
        )
      })}
      <More pathname={pathname} less={rooms.filter(({ isLess }) => isLess)} />
    </nav>
  )
}

/** On a phone: the rooms that do not fit along its foot. It wears the one that is open. */
function More({ pathname, less }: { pathname: string; less: Room[] }) {
  if (less.length === 0) return null
  const here = less.find(({ href }) => isInRoom(pathname, href))
  return (
    <Menu
      trigger={
        <button
          type="button"
          aria-label={here ? `${here.word}, more rooms` : 'More rooms'}
          className={cx('ring-inside flex items-center md:hidden', onPhone, here ? hereLook : elsewhereLook)}
        >
          {here?.icon ?? <Ellipsis size={16} strokeWidth={1.5} aria-hidden="true" />}
          {here?.word ?? 'More'}
        </button>
      }
    >
      {less.map(({ word, href, icon }) => (
        <MenuLink key={href}>
          <Link href={href} aria-current={href === here?.href ? 'page' : undefined}>
            {icon}
            {word}
          </Link>
        </MenuLink>
      ))}
    </Menu>
  )
}
