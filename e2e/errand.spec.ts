/*
 * The main job, as a new user does it: sign in, approve the waiting run, see the router change and the monitor fail, take
 * it back by its plan, and carry the evidence away.
 */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Page } from '@playwright/test'
import { House, root } from './house'
import { becomeAdministrator, expect, hold, test } from './test'

test.describe('the main errand', () => {
  // The first minute of an installation, so one that nothing else has touched.
  const house = new House()
  test.beforeAll(() => house.start({ lab: true }))
  test.afterAll(() => house.remove())
  test.use({ baseURL: ({ baseURL: _shared }, use) => use(house.origin), storageState: undefined })

  test('a held change is approved, breaks the monitor, and is taken back with evidence', async ({
    page,
  }, info) => {
    const before = readFileSync(house.routerFile())
    await becomeAdministrator(page, house)
    const run = await test.step('the waiting run is approved', () => approveWaitingRun(page))

    await test.step('the router changes and the monitor fails', async () => {
      await expect(status(page)).toContainText('failed')
      expect(readFileSync(house.routerFile()).equals(before)).toBe(false)
      expect(readFileSync(house.routerFile(), 'utf8')).toContain('neighbor 192.0.2.1 shutdown')
      await graphNode(page, 'Check the flows').click()
      const inspector = page.getByRole('complementary', { name: 'Check the flows' })
      await expect(inspector).toContainText('edge-router-07 refused its flow records')
    })

    await test.step('one click previews the way back', async () => {
      await graphNode(page, 'Move traffic to transit-b').click()
      await page.getByRole('link', { name: 'Roll back to before this' }).click()
      await expect(page.getByRole('heading', { name: 'Rollback preview' })).toBeVisible()
      await expect(page.getByRole('heading', { name: /^Restores/ })).toBeVisible()
      expect(readFileSync(house.routerFile()).equals(before), 'a preview changes nothing').toBe(false)
    })

    await test.step('and holding the button takes it back, byte for byte', async () => {
      await hold(page, /^Roll back \d+ step/)
      await expect(page.getByRole('heading', { name: /^Taken back/ })).toBeVisible()
      expect(readFileSync(house.routerFile()).equals(before)).toBe(true)
    })

    await test.step('the run is ended', async () => {
      await page.getByRole('button', { name: 'End the run' }).click()
      await expect(status(page)).toContainText('rolled back')
    })

    await test.step('its ledger verifies in the browser', async () => {
      await page.getByRole('button', { name: /^Verify \d+ tokens$/ }).click()
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^Verify \d+ tokens$/ })
        .click()
      await expect(page.getByRole('dialog')).toContainText('verified in this browser')
      await expect(page.getByRole('dialog')).toContainText('Unbroken from token 1')
      await page.keyboard.press('Escape')
    })

    await test.step('and offline, where one flipped byte is named', async () => {
      const bundle = info.outputPath('run.tar')
      await page.getByRole('button', { name: /^More for/ }).click()
      const download = page.waitForEvent('download')
      await page.getByRole('menuitem', { name: 'Export as a bundle' }).click()
      await (await download).saveAs(bundle)
      const good = await holdpoint('verify', bundle)
      expect(good.code, good.out).toBe(0)
      expect(good.out).toContain(run)

      const bytes = readFileSync(bundle)
      const at = bytes.indexOf('neighbor 192.0.2.1 shutdown') // in no token: a value the ledger speaks of
      const place = at === -1 ? bytes.indexOf('"wf_id"') : at
      bytes.writeUInt8(bytes.readUInt8(place) ^ 1, place)
      const flipped = info.outputPath('flipped.tar')
      writeFileSync(flipped, bytes)
      const bad = await holdpoint('verify', flipped)
      expect(bad.code, bad.out).toBe(5)
      expect(bad.out).toMatch(/does not hold|not what/)
    })
  })
})

/** From the overview through the inbox to a decision; ends on the run's page. Gives the run's id. */
async function approveWaitingRun(page: Page): Promise<string> {
  await page.getByRole('link', { name: 'Approvals' }).click()
  await expect(page.getByRole('heading', { name: /^Moves traffic of edge-router-07/ })).toBeVisible()
  await expect(page.getByRole('region', { name: 'Decision' })).toContainText('neighbor 192.0.2.1 shutdown')
  await page.getByRole('button', { name: /^Approve Move traffic to transit-b/ }).click()
  await page.getByRole('button', { name: 'Open the run' }).click()
  await page.waitForURL(/\/runs\/run_/)
  return decodeURIComponent(/run_[^?/]+/.exec(page.url())?.[0] ?? '')
}

function status(page: Page) {
  return page.getByRole('status').first()
}

function graphNode(page: Page, label: string) {
  return page.getByRole('button', { name: new RegExp(`^${label}:`) })
}

function holdpoint(...args: string[]): Promise<{ code: number; out: string }> {
  return new Promise((resolve) => {
    const program = path.join(root, 'lib/cli/holdpoint.mjs')
    execFile(process.execPath, [program, ...args], (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, out: stdout + stderr }),
    )
  })
}
