'use client'
import Link from 'next/link'
import { signOut } from 'next-auth/react'
import { useState } from 'react'
import { Icon } from '@/components/ui/icons'
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuLine, MenuLink } from '@/components/ui/menu'
import { links } from '@/lib/ui/links'
import { useOpened } from '@/lib/ui/opened'
import { useMe } from '@/lib/ui/queries'
import { chooseTheme, currentTheme, type Theme, themes } from '@/lib/ui/theme'

/** Who is signed in and as what; their theme; the way out. */
export function PersonMenu() {
  const me = useMe().data
  const opened = useOpened()
  const [theme, setTheme] = useState<Theme>('system')
  return (
    <Menu
      trigger={
        <button
          type="button"
          aria-label={me ? `${me.name}, your menu` : 'Your menu'}
          onPointerDown={() => setTheme(currentTheme())}
          onKeyDown={() => setTheme(currentTheme())}
          className="flex h-7 items-center gap-2 whitespace-nowrap rounded-r2 px-2 hover:bg-hover max-md:h-12 max-md:px-3"
        >
          <Icon className="text-ink-3">
            <circle cx="8" cy="5.25" r="2.5" />
            <path d="M3 13.5c.5-2.75 2.5-4 5-4s4.5 1.25 5 4" />
          </Icon>
          <span className="max-md:hidden">
            {me?.name} <span className="pl-1 text-ink-3 max-lg:hidden">{me?.roles[0]}</span>
          </span>
        </button>
      }
    >
      {me && (
        <>
          <MenuLabel>
            <span className="block font-medium">{me.name}</span>
            <span className="block text-t1 text-ink-3">{me.roles.join(', ') || 'no role'}</span>
          </MenuLabel>
          <MenuLine />
        </>
      )}
      <MenuChoice<Theme>
        label="Theme"
        value={theme}
        choices={themes}
        onChange={(next) => {
          setTheme(next)
          chooseTheme(next)
        }}
      />
      {/* A bundle's visitor has no account, and came by a link that no sign-in replaces. */}
      {!opened && (
        <>
          <MenuLine />
          <MenuLink>
            <Link href={links.settings({ tab: 'account' })}>My account</Link>
          </MenuLink>
          <MenuItem onSelect={() => void signOut({ callbackUrl: links.signIn() })}>Sign out</MenuItem>
        </>
      )}
    </Menu>
  )
}
