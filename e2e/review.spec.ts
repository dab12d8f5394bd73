/*
 * The five packs of RFC 0009 from the library to their ends, and the incident reviewer's whole errand on the first of
 * them, by keyboard alone: where did the tests begin to pass, what did the report say before and after, what if the
 * change had been another one, and a file that proves it.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Locator, Page } from '@playwright/test'
import { root } from './house'
import { expect, status, test } from './test'

/** Starts a workflow of the library, its form filled in. */
async function started(page: Page, name: string, input: Record<string, string> = {}): Promise<void> {
  await page.goto('/workflows')
  await page.getByRole('link', { name: `Run ${name}…` }).click()
  for (const [label, text] of Object.entries(input)) {
    await page.getByRole('textbox', { name: label }).fill(text)
  }
  await page.getByRole('button', { name: `Run ${name}` }).click()
  await expect(page).toHaveURL(/\/runs\/run_/)
}

/** Tab, until that is focused. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await expect(target).toBeVisible()
  for (let presses = 0; presses < 150; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  await expect(target, 'reached with the Tab key').toBeFocused()
}

/** Arrow down in the menu that has just been opened from the keyboard, until that is focused. */
async function downTo(page: Page, name: string): Promise<void> {
  const items = page.getByRole('menuitem')
  await expect(items.first(), 'the menu takes the keyboard').toBeFocused()
  const names = await items.allTextContents()
  for (let step = 0; step < names.indexOf(name); step++) await page.keyboard.press('ArrowDown')
  await expect(page.getByRole('menuitem', { name })).toBeFocused()
}

const trace = (page: Page) => page.getByRole('table', { name: 'Artifacts at each transition' })

test('a reviewer finds, compares, forks and proves by keyboard alone', async ({ page, house }) => {
  await started(page, 'codegen-agent', { Requirements: 'Turn a headline into a part of a URL.' })
  await expect(status(page)).toContainText('completed at done')
  const original = new URL(page.url()).pathname

  await test.step('the trace reads like the table of the RFC', async () => {
    await tabTo(page, page.getByRole('navigation', { name: 'Views of the run' }).getByText('Artifacts'))
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(/show=artifacts/)
    const rows = trace(page).getByRole('row')
    await expect(rows).toHaveCount(8)
    const told = [
      ['plan', '(entry)'],
      ['implement', 'PlanReady'],
      ['test', 'CodeReady'],
      ['implement', 'TestsFailed', '2/5 pass'],
      ['test', 'CodeReady', '2/5 pass'],
      ['review', 'TestsPassed', '5/5 pass'],
      ['done', 'Approved', '5/5 pass'],
    ]
    for (const [at, words] of told.entries())
      for (const word of words) await expect(rows.nth(at + 1)).toContainText(word)
  })

  await test.step('the transition where the tests began to pass, and the report before and after', async () => {
    // The page stands at the last change; three rows up, the first report is not there yet.
    for (let up = 0; up < 3; up++) await page.keyboard.press('k')
    await page.keyboard.press('a')
    await expect(page).toHaveURL(/[?&]a=3\b/)
    await page.keyboard.press('j')
    await page.keyboard.press('a')
    await expect(page).toHaveURL(/[?&]a=4\b/)
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('b')
    await expect(page).toHaveURL(/[?&]b=6\b/)
    const comparison = page.getByRole('region', { name: 'Comparison of A and B' })
    await tabTo(page, comparison.getByRole('button', { name: /^test_report/ }))
    await page.keyboard.press('Enter')
    await expect(page.getByRole('region', { name: 'Changes of test_report' })).toContainText('added: pass: 5')
    await expect(comparison).toContainText('both hashes match the ledger')
  })

  await test.step('a fork one step earlier, with another change', async () => {
    await page.keyboard.press('[')
    await expect(page).toHaveURL(/[?&]b=5\b/)
    await tabTo(page, page.getByRole('link', { name: 'Fork from B…' }))
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(/\/fork\?at=\d+/)
    await expect(page.getByRole('radio', { name: /dry run/i })).toBeChecked()
    await tabTo(page, page.getByRole('textbox', { name: 'change_summary' }))
    await page.keyboard.press('Control+A')
    await page.keyboard.type('Written by hand, to see what becomes of it.')
    await tabTo(page, page.getByRole('button', { name: /^Fork as a dry run from test/ }))
    await page.keyboard.press('Enter')
    await expect(page).not.toHaveURL(new RegExp(original))
    await expect(page).toHaveURL(/\/runs\/run_/)
    await expect(status(page)).toContainText(/completed at|failed at|budget-exhausted/)
    await page.goto(`${new URL(page.url()).pathname}?show=artifacts`)
    await expect(trace(page)).toContainText('Written by hand')
    await expect(trace(page).getByRole('row').nth(5)).toContainText('2/5 pass')
  })

  await test.step('and a bundle of the original that verifies without this installation', async () => {
    await page.goto(original)
    await tabTo(page, page.getByRole('button', { name: 'More for codegen-agent' }))
    await page.keyboard.press('Enter')
    await downTo(page, 'Export incident…')
    await page.keyboard.press('Enter')
    const link = page.getByRole('dialog').getByRole('link', { name: /^Download the bundle, \d/ })
    await tabTo(page, link)
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')])
    const file = path.join(house.data, download.suggestedFilename())
    await download.saveAs(file)
    const said = execFileSync(process.execPath, ['lib/cli/holdpoint.mjs', 'verify', file], {
      cwd: root,
      encoding: 'utf8',
    })
    expect(said).toMatch(/tokens of 8 runs.* every byte is covered/)
  })
})

test('a real database is asked, and its findings grow into the report', async ({ page }) => {
  await started(page, 'data-explorer', { 'Dataset description': 'Orders of a web shop' })
  await expect(status(page)).toContainText('completed at report')
  await page.goto(`${new URL(page.url()).pathname}?show=artifacts`)
  await expect(trace(page)).toContainText('QueryFailed')
  await expect(trace(page)).toContainText(/\d entries/)
})

test('a state that corrects itself ends well, and a conversation is kept', async ({ page }) => {
  await started(page, 'self-correcting')
  await expect(status(page)).toContainText('completed at complete')
  await started(page, 'intake', { Request: 'A page that lists open orders' })
  await expect(status(page)).toContainText('completed at execution')
})

test('a fix waits for a person, is rejected, is approved, and reaches the lab’s router', async ({
  page,
  house,
}) => {
  const before = readFileSync(house.routerFile(), 'utf8')
  await started(page, 'ops-remediation', { 'Alert description': 'Traffic on edge-router-07 fell to nothing' })
  await expect(status(page)).toContainText('waiting for operator')
  await page.getByRole('button', { name: /^Rejected/ }).click()
  await expect(page.getByRole('complementary', { name: /await_approval/ })).toContainText('visit 2')
  await page.getByRole('button', { name: /^Approved/ }).click()
  await expect(status(page)).toContainText('completed at postmortem')
  expect(readFileSync(house.routerFile(), 'utf8')).not.toBe(before)
})
