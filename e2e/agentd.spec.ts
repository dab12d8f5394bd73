/*
 * An agentd workflow as an operator meets it: started from the library, held at its pause, let go on by a named person,
 * and taken back: the file, the command and the folder.
 */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, hold, status, test } from './test'

test('held-change is approved by a person, and taken back with its command', async ({ page, house }) => {
  const changes = path.join(house.data, 'files/changes')
  await page.goto('/workflows')
  await page.getByRole('link', { name: 'Run held-change…' }).click()
  await page.getByRole('textbox', { name: 'Change' }).fill('neighbor 192.0.2.7 shutdown')
  await page.getByRole('button', { name: 'Run held-change' }).click()
  await expect(page).toHaveURL(/\/runs\/run_/)
  await expect(status(page)).toContainText('waiting for operator')
  expect(existsSync(changes), 'nothing is touched before a person decides').toBe(false)

  await test.step('a person approves', async () => {
    await page.getByRole('button', { name: 'Approve “approve”' }).click()
    await expect(status(page)).toContainText('completed at apply')
    expect(readFileSync(path.join(changes, 'edge-router-07.conf'), 'utf8')).toContain('192.0.2.7 shutdown')
    expect(existsSync(path.join(changes, 'maintenance.flag'))).toBe(true)
  })

  await test.step('the decision bears the person’s name', async () => {
    // The graph has followed the run to its end; a link to a step opens there.
    await page.goto(`${new URL(page.url()).pathname}?node=approve`)
    await expect(page.getByRole('complementary', { name: 'approve' })).toContainText('ada')
  })

  await test.step('and the change is taken back', async () => {
    await page.goto(`${new URL(page.url()).pathname}?node=folder`)
    await page.getByRole('link', { name: 'Roll back to before this' }).click()
    await expect(page.getByRole('heading', { name: 'Rollback preview' })).toBeVisible()
    await page.getByText('This step and all that followed').click()
    await expect(page.getByRole('heading', { name: /^Restores 2 steps, compensates 1/ })).toBeVisible()
    await hold(page, /^Restore 2 steps/)
    await expect(status(page)).toContainText(/taken back/i)
    expect(existsSync(changes)).toBe(false)
  })
})
