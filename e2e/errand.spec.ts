/*
 * The main job, as a new user does it: sign in, approve the waiting run, see the router change and the monitor fail, take
 * it back by its plan, and carry the evidence away.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import { holdpoint } from './holdpoint'
import { ada, House } from './house'
import { becomeAdministrator, expect, graphNode, hold, signIn, status, test } from './test'

test.describe
  .serial('the main errand', () => {
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
        await expect(status(page)).toContainText('partly done at Check the flows')
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
        await expect(page.getByRole('heading', { name: /^Restores 2 steps on 2 agents/ })).toBeVisible()
        expect(readFileSync(house.routerFile()).equals(before), 'a preview changes nothing').toBe(false)
      })

      await test.step('and holding the button takes it back, byte for byte', async () => {
        await hold(page, /^Restore 2 steps on 2 agents/)
        await expect(status(page)).toContainText(/taken back/i)
        expect(readFileSync(house.routerFile()).equals(before)).toBe(true)
      })

      await test.step('the run is ended', async () => {
        await page.getByRole('button', { name: 'End the run' }).click()
        await expect(status(page)).toContainText('rolled back')
      })

      await test.step('its ledger verifies in the browser', async () => {
        await page.getByRole('button', { name: /^(Verify )?\d+ .*tokens$/ }).click()
        const verification = page.getByRole('dialog', { name: 'Verification of the ledger' })
        const keys = page.waitForRequest('**/.well-known/jwks.json')
        await verification.getByRole('button', { name: /^Verify/ }).click()
        await keys
        await expect(verification).toContainText('tokens verified in this browser.')
        await expect(verification).toContainText('Unbroken from token 1.')
        await page.keyboard.press('Escape')
      })

      await test.step('and offline, where one flipped byte is named', async () => {
        const bundle = info.outputPath('run.tar')
        await page.getByRole('button', { name: 'More for bgp-failover-lab' }).click()
        const download = page.waitForEvent('download')
        await page.getByRole('menuitem', { name: 'Export incident…' }).click()
        await page.getByRole('link', { name: /^Download the bundle, [\d.]+ k?B$/ }).click()
        await (await download).saveAs(bundle)
        const whole = await holdpoint('verify', bundle)
        expect(whole.code, whole.out).toBe(0)
        expect(whole.out).toContain(`holds: ${run} of "bgp-failover-lab"`)

        const bytes = readFileSync(bundle)
        for (const [place, named] of [
          [bytes.indexOf('"token":"', bytes.indexOf('"seq":3,')) + 60, 'runs/'],
          [bytes.indexOf('neighbor 192.0.2.1 shutdown', bytes.indexOf('"seq":1,')), 'values/'],
        ] as const) {
          const flipped = info.outputPath('flipped.tar')
          writeFileSync(flipped, withFlipped(bytes, place))
          const verdict = await holdpoint('verify', flipped)
          expect(verdict.code, verdict.out).toBe(5)
          expect(verdict.out).toContain(`does not hold, in ${named}`)
        }
      })
    })

    test('after a rollback the run can go on from before the step, and asks again', async ({ page }) => {
      const before = readFileSync(house.routerFile())
      await signIn(page, house.origin, ada)
      await page.getByRole('link', { name: 'Workflows' }).click()
      await page.getByRole('link', { name: 'Run bgp-failover-lab…' }).click()
      await page.getByRole('button', { name: 'Run bgp-failover-lab' }).click()
      await expect(status(page)).toContainText('waiting for operator')
      await page.getByRole('button', { name: /^Approve “Move traffic to transit-b”/ }).click()
      await expect(status(page)).toContainText('partly done at Check the flows')
      await graphNode(page, 'Move traffic to transit-b').click()
      await page.getByRole('link', { name: 'Roll back to before this' }).click()
      await hold(page, /^Restore 2 steps on 2 agents/)
      await expect(status(page)).toContainText(/taken back/i)
      expect(readFileSync(house.routerFile()).equals(before)).toBe(true)

      await page.getByRole('button', { name: 'Go on from before Move traffic to transit-b' }).click()
      await expect(status(page)).toContainText('waiting for operator')
      await graphNode(page, 'Move traffic to transit-b').click()
      await expect(page.getByRole('combobox', { name: 'Visit' })).toHaveValue('2')
      await page.getByRole('button', { name: /^Refuse “Move traffic to transit-b”/ }).click()
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^Refuse/ })
        .click()
      await expect(status(page)).toContainText('refused by ada')
      expect(readFileSync(house.routerFile()).equals(before)).toBe(true)
    })
  })

function withFlipped(bytes: Buffer, place: number): Buffer {
  const flipped = Buffer.from(bytes)
  flipped.writeUInt8(flipped.readUInt8(place) ^ 1, place)
  return flipped
}

/** From the overview through the inbox to a decision; ends on the run's page. Gives the run's id. */
async function approveWaitingRun(page: Page): Promise<string> {
  await page.getByRole('link', { name: 'Approvals' }).click()
  await expect(page.getByRole('heading', { name: /^Moves traffic of edge-router-07/ })).toBeVisible()
  await expect(page.getByRole('region', { name: 'Decision' })).toContainText('neighbor 192.0.2.1 shutdown')
  await page.getByRole('button', { name: /^Approve “Move traffic to transit-b”/ }).click()
  await page.getByRole('button', { name: 'Open the run' }).click()
  await page.waitForURL(/\/runs\/run_/)
  return decodeURIComponent(/run_[^?/]+/.exec(page.url())?.[0] ?? '')
}
