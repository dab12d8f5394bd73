'use client'
import { cx } from '@/components/ui/cx'

/** What the left side of a run's page shows. */
export type RunShow = 'graph' | 'artifacts' | 'ledger' | 'decisions'

export const runShows: readonly RunShow[] = ['graph', 'artifacts', 'ledger', 'decisions']

/** A view's name as the address has it; the graph for any other. */
export function showFrom(text: string | undefined): RunShow {
  return runShows.find((show) => show === text) ?? 'graph'
}

export interface RunTab {
  show: RunShow
  word: string
  /** How many things are in it. */
  count?: number
}

/** The views of one run, each with its own address: a middle click opens it beside this one. */
export function RunTabs({
  tabs,
  show,
  onShow,
}: {
  tabs: RunTab[]
  show: RunShow
  onShow: (show: RunShow) => void
}) {
  return (
    <nav
      aria-label="Views of the run"
      className="flex h-9 shrink-0 gap-4 overflow-x-auto border-b px-4 max-md:h-12 max-md:gap-0 max-md:px-2"
    >
      {tabs.map((tab) => (
        <a
          key={tab.show}
          href={addressOf(tab.show)}
          aria-current={tab.show === show ? 'page' : undefined}
          onClick={(event) => {
            if (event.metaKey || event.ctrlKey || event.shiftKey) return
            event.preventDefault()
            onShow(tab.show)
          }}
          className={cx(
            'ring-inside -mb-px flex items-center gap-1.5 whitespace-nowrap border-b-2 max-md:px-2',
            tab.show === show
              ? 'border-ink font-medium text-ink'
              : 'border-transparent text-ink-3 hover:text-ink',
          )}
        >
          {tab.word}
          {tab.count !== undefined && tab.count > 0 && (
            <span className="num font-regular text-ink-3">{tab.count.toLocaleString('en')}</span>
          )}
        </a>
      ))}
    </nav>
  )
}

/** The rest of the address is the reader's own; a click keeps it, a new tab begins with the view alone. */
function addressOf(show: RunShow): string {
  return show === 'graph' ? '?' : `?show=${show}`
}
