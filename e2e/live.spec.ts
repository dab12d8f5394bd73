/* A page that loses the server says so, and when it is back shows everything that happened meanwhile, each thing once. */
import type { Page } from '@playwright/test'
import type { StreamEvent } from '@/lib/view/wire'
import { Cable } from './cable'
import { test as base, expect, status } from './test'

const test = base.extend<{ cable: Cable }>({
  cable: async ({ house }, use) => {
    const cable = new Cable(house.origin)
    await cable.plugIn()
    await use(cable)
    await cable.remove()
  },
  baseURL: async ({ cable }, use) => use(cable.origin),
})

test('a lost connection shows, resumes, misses nothing and doubles nothing', async ({ page, api, cable }) => {
  const heard = await listen(page)
  await page.goto('/runs')
  await expect(page.getByText('Live, as of')).toBeVisible()
  await api.startRun('quick-check')
  await expect.poll(() => endsHeard(heard)).toBe(1)

  cable.cut()
  await expect(page.getByText('Connection lost.')).toBeVisible()
  const missed = await Promise.all(Array.from({ length: 5 }, () => api.startRun('quick-check')))
  for (const run of missed) await expect.poll(async () => (await api.run(run)).row.terminal).toBe('success')
  expect(endsHeard(heard)).toBe(1)

  cable.mend()
  await tryNow(page)
  await expect(page.getByText('Connection lost.')).toBeHidden()
  for (const run of missed) {
    await expect(
      page
        .getByRole('row')
        .filter({ has: page.getByRole('link', { name: 'quick-check' }) })
        .filter({ has: page.getByTitle(run) }),
    ).toContainText('succeeded')
  }
  await expect.poll(() => endsHeard(heard)).toBe(6)
  const positions = heard.map((event) => event.position)
  expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b))
  // Nothing was left out: they follow one another without a gap.
  expect(positions.at(-1)).toBe((positions[0] ?? 0) + positions.length - 1)
})

test('a run’s page follows its ledger through a gap', async ({ page, api, cable }) => {
  const run = await api.startRun('config-note', {
    device: 'edge-router-07',
    change: 'Through a gap.',
    path: 'notes/gap.md',
  })
  await page.goto(`/runs/${run}`)
  await expect(status(page)).toContainText('waiting for')
  cable.cut()
  await expect(page.getByText('Connection lost.')).toBeVisible()
  const card = await api.held(run)
  await api.must(
    api.post(`/api/v1/approvals/${card.id}/decision`, { verdict: 'approve', action: card.action }),
  )
  await expect.poll(async () => (await api.run(run)).row.terminal).toBe('success')
  cable.mend()
  await tryNow(page)
  await expect(status(page)).toContainText('succeeded')
  const { seq } = await api.run(run)
  await expect(page.getByRole('button', { name: new RegExp(`^${seq} of ${seq} tokens$`) })).toBeVisible()
})

/** Every event that the page's streams were sent, as the page got it. */
async function listen(page: Page): Promise<StreamEvent[]> {
  const heard: StreamEvent[] = []
  await page.exposeFunction('heardEvent', (data: string) => heard.push(JSON.parse(data) as StreamEvent))
  await page.addInitScript(() => {
    const Original = window.EventSource
    window.EventSource = class extends Original {
      constructor(url: string | URL) {
        super(url)
        const tell = (window as unknown as { heardEvent: (data: string) => void }).heardEvent
        this.addEventListener('message', (event) => tell(event.data))
      }
    }
  })
  return heard
}

function endsHeard(heard: StreamEvent[]): number {
  return heard.filter((event) => event.act === 'atd:workflow_complete').length
}

/** Presses the button, unless the page has found its way back by itself already: both are right. */
async function tryNow(page: Page): Promise<void> {
  await page.evaluate(() => {
    const buttons = [...document.querySelectorAll('button')]
    buttons.find((button) => button.textContent === 'Try now')?.click()
  })
}
