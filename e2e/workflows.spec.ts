/* Workflows come in by paste and by file, are checked with places, go out as they came, and run with what they ask for. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Page } from '@playwright/test'
import { root } from './house'
import { expect, status, test } from './test'

const quickCheck = path.join(root, 'examples/workflows/quick-check.atd.json')

test('pasted text is checked as it comes, drawn, and imported', async ({ page }) => {
  await openImport(page)
  await paste(page, renamed(readFileSync(quickCheck, 'utf8'), 'pasted-check'))
  await expect(page.getByText('no faults')).toBeVisible()
  await expect(page.getByRole('button', { name: /^Make a report/ })).toBeVisible()
  await page.getByRole('button', { name: 'Import pasted-check' }).click()
  await expect(page.getByRole('heading', { name: 'pasted-check', level: 1 })).toBeVisible()
  await page.getByRole('link', { name: 'Workflows' }).first().click()
  await expect(page.getByRole('link', { name: 'pasted-check', exact: true })).toBeVisible()
})

test('a file is read, and goes out again byte for byte', async ({ page }, info) => {
  const text = renamed(readFileSync(quickCheck, 'utf8'), 'from-a-file').replace(
    '"nodes"',
    '"x_unknown": {"kept": [1, 2]},\n  "nodes"',
  )
  await openImport(page)
  await page
    .getByLabel('Workflow file')
    .setInputFiles({ name: 'from-a-file.atd.json', mimeType: 'application/json', buffer: Buffer.from(text) })
  await page.getByRole('button', { name: 'Import from-a-file' }).click()
  await expect(page.getByRole('heading', { name: 'from-a-file', level: 1 })).toBeVisible()
  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download' }).click()
  const saved = info.outputPath('out.json')
  await (await download).saveAs(saved)
  expect(readFileSync(saved, 'utf8')).toBe(text)
})

test('every fault is named at once, with its line and column, and nothing is imported meanwhile', async ({
  page,
}) => {
  await openImport(page)
  await paste(
    page,
    `{
  "wf_id": "faulty",
  "nodes": [
    {"id": "a", "label": "A"},
    {"id": "a", "label": "A again"},
    {"id": "b", "label": "B", "resource_hints": {"priority": "utmost"}}
  ],
  "edges": [
    {"from": "a", "to": "nowhere"},
    {"from": "a", "to": "b"},
    {"from": "b", "to": "a"}
  ]
}`,
  )
  const faults = page.getByRole('list', { name: 'Diagnostics' }).getByRole('listitem')
  await expect(faults.filter({ hasText: 'nowhere' })).toContainText(/9:\d+/)
  await expect(faults.filter({ hasText: 'utmost' })).toContainText(/6:\d+/)
  await expect(faults.filter({ hasText: /twice|duplicate|already/i })).toContainText(/5:\d+/)
  await expect(page.getByRole('button', { name: /^Import/ })).toBeDisabled()
  await expect(page.getByText('Nothing is imported while an error stands.')).toBeVisible()

  await faults.filter({ hasText: 'nowhere' }).getByRole('button').click()
  await expect(page.getByRole('textbox', { name: 'Text of the workflow' })).toBeFocused()

  await paste(page, '{"wf_id": "half", "nodes": [')
  await expect(faults.first()).toContainText(/1:\d+/)
})

test('a cycle is refused with the way round it', async ({ page }) => {
  await openImport(page)
  await paste(
    page,
    JSON.stringify({
      wf_id: 'round',
      nodes: [
        { id: 'a', label: 'A' },
        { id: 'b', label: 'B' },
      ],
      edges: [
        { from: 'a', to: 'b' },
        { from: 'b', to: 'a' },
      ],
    }),
  )
  const faults = page.getByRole('list', { name: 'Diagnostics' }).getByRole('listitem')
  await expect(faults.filter({ hasText: /cycle|circle|loop/i })).toHaveCount(1)
  await expect(page.getByRole('button', { name: /^Import/ })).toBeDisabled()
})

test('a file beyond the bound is refused before it is read', async ({ page }) => {
  await openImport(page)
  await page.getByLabel('Workflow file').setInputFiles({
    name: 'huge.json',
    mimeType: 'application/json',
    buffer: Buffer.alloc(9 * 1024 * 1024, 32),
  })
  await expect(page.getByText('huge.json was not read')).toBeVisible()
})

test('a run is started from a form that the workflow’s input makes', async ({ page }) => {
  await page.goto('/workflows')
  await page.getByRole('link', { name: 'Run config-note…' }).click()
  await expect(page.getByLabel('Device')).toHaveValue('edge-router-07')
  await page.getByRole('button', { name: 'Run config-note' }).click()
  await expect(page.getByRole('textbox', { name: 'Change' })).toHaveAttribute('aria-invalid', 'true')

  await page.getByRole('textbox', { name: 'Change' }).fill('Moved to transit-b.')
  await page.getByRole('textbox', { name: 'File' }).fill('../etc/passwd')
  await page.getByRole('button', { name: 'Run config-note' }).click()
  await expect(page.getByRole('textbox', { name: 'File' })).toHaveAttribute('aria-invalid', 'true')

  await page.getByRole('textbox', { name: 'File' }).fill('notes/from-the-form.md')
  await page.getByRole('button', { name: 'Run config-note' }).click()
  await expect(page).toHaveURL(/\/runs\/run_/)
  await expect(status(page)).toContainText('waiting for operator')
  await expect(page.getByRole('region', { name: 'Decision' })).toContainText('Moved to transit-b.')
})

test('a dry run changes nothing and says so', async ({ page, house }) => {
  const before = readFileSync(house.routerFile('edge-router-08'))
  await page.goto('/workflows')
  await page.getByRole('link', { name: 'Run bgp-failover-peer…' }).click()
  await page.getByLabel(/^Dry run/).check()
  await page.getByRole('button', { name: 'Dry-run bgp-failover-peer' }).click()
  await expect(page.getByText('dry run', { exact: true })).toBeVisible()
  await expect(status(page)).toContainText(/succeeded|failed/)
  expect(readFileSync(house.routerFile('edge-router-08')).equals(before)).toBe(true)
})

async function openImport(page: Page): Promise<void> {
  await page.goto('/workflows')
  await page.getByRole('link', { name: 'Import a workflow' }).click()
  await expect(page.getByRole('textbox', { name: 'Text of the workflow' })).toBeVisible()
}

/** Replaces the whole text, as a paste over a selection does. */
async function paste(page: Page, text: string): Promise<void> {
  const editor = page.getByRole('textbox', { name: 'Text of the workflow' })
  await editor.click()
  await page.keyboard.press('ControlOrMeta+a')
  await editor.evaluate((element, pasted) => {
    const data = new DataTransfer()
    data.setData('text/plain', pasted)
    element.dispatchEvent(
      new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }),
    )
  }, text)
}

function renamed(text: string, name: string): string {
  return text.replace('"wf_id": "quick-check"', `"wf_id": "${name}"`)
}
