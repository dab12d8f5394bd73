/* Every page in both themes and at both widths: nothing that axe finds, and no page that scrolls sideways. */
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import type { Api } from './api'
import { expect, test } from './test'

/** Every page is opened once and shown in each of these. */
const looks = [
  { colorScheme: 'light', width: 1440, height: 900 },
  { colorScheme: 'dark', width: 1440, height: 900 },
  { colorScheme: 'dark', width: 375, height: 667 },
  { colorScheme: 'light', width: 375, height: 667 },
] as const

interface Shown {
  page: string
  path: (made: Made) => string
  /** Something that is there once the page is complete. */
  ready: (page: Page) => Promise<void>
}

interface Made {
  run: string
  failed: string
  question: string
  version: string
}

const heading = (name: string | RegExp) => (page: Page) =>
  expect(page.getByRole('heading', { name }).first()).toBeVisible()

const pages: Shown[] = [
  {
    page: 'overview',
    path: () => '/',
    ready: (page) => expect(page.getByRole('heading', { level: 2 }).first()).toBeVisible(),
  },
  { page: 'approvals', path: (made) => `/approvals?item=${made.question}`, ready: heading(/^Create notes/) },
  { page: 'runs', path: () => '/runs', ready: (page) => expect(page.getByRole('row').nth(1)).toBeVisible() },
  { page: 'a run that waits', path: (made) => `/runs/${made.run}`, ready: heading(/^Create notes/) },
  {
    page: 'a run that failed',
    path: (made) => `/runs/${made.failed}?node=verify-session`,
    ready: heading('Check the flows'),
  },
  {
    page: 'a ledger',
    path: (made) => `/runs/${made.failed}?show=ledger&token=2`,
    ready: (page) => expect(page.getByText('run began').first()).toBeVisible(),
  },
  {
    page: 'a rollback’s plan',
    path: (made) => `/runs/${made.failed}/rollback?node=update-bgp-peer`,
    ready: heading(/^Restores/),
  },
  {
    page: 'workflows',
    path: () => '/workflows',
    ready: (page) => expect(page.getByRole('link', { name: 'config-note', exact: true })).toBeVisible(),
  },
  { page: 'a workflow', path: (made) => `/workflows/${made.version}`, ready: heading('config-note') },
  {
    page: 'a workflow’s text',
    path: (made) => `/workflows/${made.version}?tab=source`,
    ready: (page) => expect(page.getByRole('textbox')).toBeVisible(),
  },
  { page: 'the import', path: () => '/workflows/import', ready: heading('Import a workflow') },
  {
    page: 'the form of a run',
    path: (made) => `/workflows/${made.version}/run`,
    ready: (page) => expect(page.getByRole('textbox', { name: 'Change' })).toBeVisible(),
  },
  {
    page: 'the breakers',
    path: () => '/breakers',
    ready: (page) => expect(page.getByRole('table', { name: 'Breakers' })).toBeVisible(),
  },
  { page: 'the bulkheads', path: () => '/bulkheads', ready: heading('This machine') },
  {
    page: 'the agents',
    path: () => '/agents',
    ready: (page) => expect(page.getByRole('list', { name: 'Agents' })).toBeVisible(),
  },
  {
    page: 'an agent',
    path: () => `/agents?agent=${encodeURIComponent('spiffe://holdpoint.local/agent/edge-router-07')}`,
    ready: (page) => expect(page.getByRole('region', { name: 'edge-router-07' })).toBeVisible(),
  },
  { page: 'the settings', path: () => '/settings', ready: heading('Settings') },
]

test.use({ contextOptions: { reducedMotion: 'reduce' } })

for (const shown of pages) {
  test(`${shown.page} is clean`, async ({ page, api }) => {
    await page.goto(shown.path(await makeThings(api)))
    await isClean(page, shown.ready)
  })
}

test.describe('before signing in', () => {
  test.use({ storageState: undefined })

  test('the sign-in is clean', async ({ page, signedIn: _ }) => {
    await page.goto('/sign-in')
    await isClean(page, heading('Sign in'))
  })

  test('a used link is clean', async ({ page, house, signedIn: _ }) => {
    await page.goto(house.firstLink())
    await isClean(page, heading('This link was used already'))
  })
})

/** Soft, so that one run of the tests names everything that is wrong. */
async function isClean(page: Page, ready: Shown['ready']): Promise<void> {
  for (const { colorScheme, width, height } of looks) {
    const look = `${colorScheme}, ${width} px`
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await ready(page)
    const { violations } = await new AxeBuilder({ page }).analyze()
    const found = violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary}`),
    )
    expect.soft(found, look).toEqual([])
    const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    expect.soft(tooWide, `${look}: scrolls sideways`).toBeLessThanOrEqual(0)
  }
}

async function makeThings(api: Api): Promise<Made> {
  const run = await api.startRun('config-note', {
    device: 'edge-router-07',
    change: 'For a look.',
    path: 'notes/look.md',
  })
  const question = await api.held(run)
  const failing = await api.must(
    api.get<{ items: { id: string }[] }>('/api/v1/runs?workflow=bgp-failover-peer&status=failed'),
  )
  const { row } = await api.run(run)
  return { run, question: question.id, version: row.version, failed: failing.items[0]?.id ?? '' }
}
