'use client'
import { useSearchParams } from 'next/navigation'
import type { ReactNode } from 'react'
import { PageHead } from '@/components/shell/page-head'
import { PageHelp } from '@/components/ui/page-help'
import { type Tab, TabPanel, Tabs } from '@/components/ui/tabs'
import { links, type SettingsTab } from '@/lib/ui/links'
import { Account } from './account'
import type { AccountBounds } from './account-bounds'
import { People } from './people'

const forAdministrators: Tab[] = [{ value: 'people', label: 'People' }]
const forEveryone: Tab[] = [{ value: 'account', label: 'My account' }]

const help: Record<SettingsTab, { words: ReactNode; keys: [string, string][] }> = {
  people: {
    words:
      'Who may sign in, and what each may do. Names stay for good, since ledgers are signed with them: people are disabled, never deleted.',
    keys: [
      ['n', 'invite a person'],
      ['/', 'find a person'],
    ],
  },
  account: {
    words:
      'Your password, where you are signed in, and the tokens that programs use in your name. A token never does more than you may.',
    keys: [['n', 'make an API token']],
  },
}

/** People, for administrators; one's own account, for everyone. */
export function Settings({ administers, bounds }: { administers: boolean; bounds: AccountBounds }) {
  const asked = useSearchParams().get('tab')
  const tabs = administers ? [...forAdministrators, ...forEveryone] : forEveryone
  const tab = (tabs.find(({ value }) => value === asked) ?? tabs[0])?.value as SettingsTab
  const show = (next: string) =>
    window.history.replaceState(null, '', links.settings({ tab: next as SettingsTab }))
  return (
    <>
      <PageHead title="Settings" className="max-md:h-12">
        <span className="flex-1" />
        <span className="max-md:hidden">
          <PageHelp page={tabs.find(({ value }) => value === tab)?.label ?? 'Settings'} keys={help[tab].keys}>
            {help[tab].words}
          </PageHelp>
        </span>
      </PageHead>
      <Tabs tabs={tabs} value={tab} onChange={show} label="Settings" className="flex-1">
        {administers && (
          <TabPanel value="people" className="flex flex-col data-[state=inactive]:hidden">
            <People />
          </TabPanel>
        )}
        <TabPanel value="account">
          <Account bounds={bounds} />
        </TabPanel>
      </Tabs>
    </>
  )
}
