/* Every page in both themes and at both widths: nothing that axe finds, and no page that scrolls sideways. */
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import type { Api } from './api'
import { expect, test } from './test'

const widths = [
  { width: 1440, height: 900 },
  { width: 375, height: 667 },
]

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
    ready: (page) => expect(page.getByText('atd:workflow_start').first()).toBeVisible(),
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
]

for (const viewport of widths) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test.describe(`${colorScheme}, ${viewport.width} px`, () => {
      test.use({ viewport, colorScheme, contextOptions: { reducedMotion: 'reduce' } })

      test('every page of the console is clean', async ({ page, api }) => {
        const made = await makeThings(api)
        for (const shown of pages) {
          await test.step(shown.page, async () => {
            await page.goto(shown.path(made))
            await shown.ready(page)
            await isClean(page, shown.page)
          })
        }
      })

      test.describe('before signing in', () => {
        test.use({ storageState: undefined })
        test('the sign-in and a used link are clean', async ({ page, house, signedIn: _ }) => {
          await page.goto('/sign-in')
          await heading('Sign in')(page)
          await isClean(page, 'sign-in')
          await page.goto(house.firstLink())
          await heading('This link was used already')(page)
          await isClean(page, 'used link')
        })
      })
    })
  }
}

/** Soft, so that one run of the tests names everything that is wrong. */
async function isClean(page: Page, name: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze()
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary}`),
  )
  expect.soft(found, name).toEqual([])
  const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
  expect.soft(tooWide, `${name} scrolls sideways`).toBeLessThanOrEqual(0)
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
