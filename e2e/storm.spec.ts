/*
 * The night one agent fails and takes others along: it is made to fail in the console, its breakers open on the map, the
 * cascade is seen, one card asks, and the operator takes the failover back over four agents with their votes on screen. What
 * cannot be undone is told; everything else is byte for byte what it was; the bundle proves it offline.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Page } from '@playwright/test'
import type { LedgerPage } from '@/lib/view/run-wire'
import { holdpoint } from './holdpoint'
import { House } from './house'
import { becomeAdministrator, expect, hold, status, test } from './test'

const storms = ['storm-failover', 'storm-watch', 'storm-hourly'] as const

test.describe
  .serial('the storm', () => {
    const house = new House()
    test.beforeAll(() => house.start({ lab: true }))
    test.afterAll(() => house.remove())
    test.use({ baseURL: ({ baseURL: _shared }, use) => use(house.origin), storageState: undefined })

    const stateOf = (file: string) => readFileSync(path.join(house.data, 'lab', file), 'utf8')
    const files = [
      'edge-router-07/running-config',
      'edge-router-08/running-config',
      'dns-steering/weights.json',
    ]

    test('is contained, asked about once, and taken back over four agents with proof', async ({
      page,
    }, info) => {
      await becomeAdministrator(page, house)
      // The runs that a first start brings along change a router too.
      await expect
        .poll(async () => {
          const answer = await page.context().request.get(`${house.origin}/api/v1/runs?status=ended&limit=50`)
          const { items } = (await answer.json()) as { items: { workflow: string }[] }
          return items.some(({ workflow }) => workflow === 'bgp-failover-peer')
        })
        .toBe(true)
      const before = files.map(stateOf)

      await test.step('an agent is made to fail from the console', async () => {
        await page.getByRole('link', { name: 'Agents' }).click()
        await page.getByRole('button', { name: /^traffic-monitor/ }).click()
        await page.getByRole('button', { name: 'Make it fail…' }).click()
        await page.getByRole('menuitemradio', { name: 'Answers with errors' }).click()
        await expect(page.getByText('traffic-monitor is made to fail').first()).toBeVisible()
      })

      const runs = await test.step('three workflows come to it', () => startStorms(page))

      await test.step('their breakers open on the map', async () => {
        await page.goto('/breakers')
        const map = page.getByRole('region', { name: 'Map of callers and called' })
        for (const caller of storms) {
          const circuit = map.getByRole('button', { name: new RegExp(`^${caller} to traffic-monitor: open`) })
          await expect(circuit).toBeVisible()
        }
      })

      await test.step('the cascade is in a ledger, and one card asks', async () => {
        await page.goto('/approvals')
        const cards = page.getByRole('listitem').filter({ hasText: 'Shared dependency failing' })
        await expect(cards).toHaveCount(1)
        expect(await cascadesIn(page, runs), 'error clustering was recorded').toBeGreaterThan(0)
      })

      const run = runs[0] as string
      await test.step('the failover is taken back over four agents, with their votes', async () => {
        await page.goto(`/runs/${run}/rollback?node=move-traffic&scope=sub_dag`)
        await expect(page.getByRole('heading', { name: /^Restores 3 steps on 3 agents/ })).toBeVisible()
        await hold(page, /^Restore 3 steps on 3 agents/)
        await expect(status(page)).toContainText(/taken back/i)
        const table = page.getByRole('region', { name: 'Agents of the rollback' })
        await expect(table).toContainText('Prepare 3 of 4 can, 1 cannot')
        for (const agent of ['edge-router-07', 'edge-router-08', 'dns-steering']) {
          await expect(table.getByRole('row', { name: new RegExp(`^${agent} `) })).toContainText('prepared')
        }
        await expect(table.getByRole('row', { name: /^mailer / })).toContainText('it cannot be undone')
        expect(files.map(stateOf), 'byte for byte').toEqual(before)
      })

      await test.step('and the bundle proves it offline', async () => {
        await page.getByRole('button', { name: 'End the run' }).click()
        const bundle = info.outputPath('storm.tar')
        await page.goto(`/runs/${run}`)
        await page.getByRole('button', { name: 'More for storm-failover' }).click()
        const download = page.waitForEvent('download')
        await page.getByRole('menuitem', { name: 'Export incident…' }).click()
        await page.getByRole('link', { name: /^Download the bundle, [\d.]+ k?B$/ }).click()
        await (await download).saveAs(bundle)
        const whole = await holdpoint('verify', bundle)
        expect(whole.code, whole.out).toBe(0)
        expect(whole.out).toContain(`holds: ${run} of "storm-failover"`)
        expect(readFileSync(bundle).includes('agents.json')).toBe(true)
      })
    })
  })

async function startStorms(page: Page): Promise<string[]> {
  const { origin } = new URL(page.url())
  const ask = page.context().request
  const { items } = (await (await ask.get(`${origin}/api/v1/workflows`)).json()) as {
    items: { name: string; version: string }[]
  }
  const runs: string[] = []
  for (const name of storms) {
    const workflow = items.find((item) => item.name === name)?.version
    const begun = await ask.post(`${origin}/api/v1/runs`, {
      headers: { origin },
      data: { workflow, input: {} },
    })
    expect(begun.status(), await begun.text()).toBe(201)
    runs.push(((await begun.json()) as { id: string }).id)
  }
  return runs
}

async function cascadesIn(page: Page, runs: readonly string[]): Promise<number> {
  const { origin } = new URL(page.url())
  let found = 0
  for (const run of runs) {
    const answer = await page.context().request.get(`${origin}/api/v1/runs/${run}/ledger?limit=500`)
    const { rows } = (await answer.json()) as LedgerPage
    for (const { token } of rows) {
      const claims = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')
      if (claims.includes('"cascade_detected"')) found += 1
    }
  }
  return found
}
