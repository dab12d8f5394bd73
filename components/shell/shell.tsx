import Link from 'next/link'
import type { ReactNode } from 'react'
import { BrandMark } from '@/components/ui/icons'
import type { OpenedBundle } from '@/lib/view/bundle-wire'
import { CommandPalette } from './command-palette'
import { HeldPages } from './held-pages'
import { LiveMark } from './live-mark'
import { LostBar } from './lost-bar'
import { OpenedBar } from './opened-bar'
import { PersonMenu } from './person-menu'
import { Rail } from './rail'

/**
 * The frame around every page: rail, top line, and the page itself, which scrolls inside. A page that wants a phone's
 * whole screen (a decision) puts `data-phone-page` on an element and brings a bar of its own.
 */
export function Shell({ opened, children }: { opened?: OpenedBundle; children: ReactNode }) {
  return (
    <div className="group/shell flex h-dvh flex-col md:grid md:grid-cols-[152px_minmax(0,1fr)] md:grid-rows-[44px_minmax(0,1fr)]">
      <a
        href="#page"
        className="absolute left-2 top-[-100px] z-50 rounded-r2 border border-line-strong bg-surface px-3 py-2 focus:top-2"
      >
        Skip to the page
      </a>
      <header className="contents">
        <Link
          href="/"
          aria-label="Holdpoint, overview"
          className="ring-inside flex items-center gap-2 border-b border-r pl-4 pr-3 font-medium tracking-[-0.01em] max-md:hidden"
        >
          <BrandMark />
          Holdpoint
        </Link>
        <div className="flex items-center gap-4 border-b px-4 max-md:h-12 max-md:gap-1 max-md:px-0 max-md:pl-4 max-md:group-has-[[data-phone-page]]/shell:hidden">
          <span className="flex items-center gap-2 font-medium md:hidden">
            <BrandMark />
            Holdpoint
          </span>
          <CommandPalette />
          <span className="flex-1 max-md:order-first max-md:hidden" />
          {!opened && (
            <>
              <LiveMark />
              <span className="h-5 border-l max-md:hidden" />
            </>
          )}
          <span className="md:-mx-2">
            <PersonMenu />
          </span>
        </div>
      </header>
      <Rail />
      <main id="page" tabIndex={-1} className="flex min-h-0 min-w-0 flex-1 flex-col bg-surface outline-none">
        {opened ? (
          <>
            <OpenedBar opened={opened} />
            <HeldPages>{children}</HeldPages>
          </>
        ) : (
          <>
            <LostBar />
            {children}
          </>
        )}
      </main>
    </div>
  )
}
