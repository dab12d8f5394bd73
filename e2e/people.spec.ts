/* People: how they come in, what their roles let them do, and what happens when two decide the same thing. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Page } from '@playwright/test'
import type { Api } from './api'
import { ada, type House } from './house'
import { isClean } from './is-clean'
import { expect, hold, othersPassword, signIn, someone, status, test } from './test'

test.describe('signing in', () => {
  test.use({ storageState: undefined })

  test('the one-time link works once', async ({ page, house, signedIn: _used }) => {
    await page.goto(house.firstLink())
    await expect(page.getByRole('heading', { name: 'This link was used already' })).toBeVisible()
    await page.getByRole('link', { name: 'Sign in' }).click()
    await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible()
  })

  test('a wrong password says no more than that the two do not go together', async ({
    page,
    house,
    signedIn: _,
  }) => {
    await signIn(page, house.origin, { name: ada.name, password: 'not it, not it, not it' })
    const words = 'This name and password do not go together, or the account is disabled.'
    await expect(page.getByRole('alert').filter({ hasText: words })).toBeVisible()
    await signIn(page, house.origin, { name: 'nobody-here', password: othersPassword })
    await expect(page.getByRole('alert').filter({ hasText: words })).toBeVisible()
  })

  test('a stranger is led to the sign-in, and from there to where they wanted to be', async ({
    page,
    signedIn: _,
  }) => {
    await page.goto('/runs?status=failed')
    await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible()
    await page.getByLabel('Name').fill(ada.name)
    await page.getByLabel('Password', { exact: true }).fill(ada.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await expect(page.getByRole('heading', { name: 'Runs' })).toBeVisible()
    await expect(page).toHaveURL(/\/runs\?status=failed$/)
  })

  test('whoever signs out is out', async ({ page, house, signedIn: _ }) => {
    await signIn(page, house.origin, ada)
    await page.getByRole('button', { name: 'ada, your menu' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible()
    await page.goto('/approvals')
    await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible()
  })
})

test('a viewer sees the question and cannot decide it', async ({ browser, house, api, signedIn }) => {
  const { page } = await someone(browser, house, signedIn, 'vera', ['viewer'])
  const { question } = await heldNote(api, 'viewer')
  await page.goto(`/approvals?item=${question}`)
  await expect(page.getByRole('note')).toContainText('You cannot decide this.')
  await expect(page.getByRole('button', { name: /^Approve “Save the note”/ })).toBeDisabled()
  await expect(page.getByRole('button', { name: /^Refuse “Save the note”/ })).toBeDisabled()
  await page.keyboard.press('a')
  const refused = await page.request.post(`/api/v1/approvals/${question}/decision`, {
    headers: { origin: house.origin },
    data: { verdict: 'approve', action: (await api.approval(question)).action },
  })
  expect(refused.status()).toBe(403)
  expect(await refused.json()).toMatchObject({ code: 'approval_role' })
  expect((await api.approval(question)).state).toBe('open')
  await page.context().close()
})

test('somebody without a role is told so on every page, and gets in with one', async ({
  page: desk,
  browser,
  house,
  signedIn,
}) => {
  const { page } = await someone(browser, house, signedIn, 'nora', ['viewer'])
  const { id } = (await (await page.request.get('/api/v1/me')).json()) as { id: string }
  const give = async (...roles: string[]) => {
    const to = `/api/v1/people/${id}`
    const given = await desk.request.patch(to, { headers: { origin: house.origin }, data: { roles } })
    expect(given.status()).toBe(200)
  }
  await give()
  for (const place of ['/', '/runs', '/settings']) {
    await page.goto(place)
    await expect(page.getByRole('heading', { name: 'You have no role yet' })).toBeVisible()
    await expect(page.getByText('You are signed in as nora.')).toBeVisible()
    await expect(page.getByRole('navigation')).toHaveCount(0)
  }
  await isClean(page)
  await give('viewer')
  await page.goto('/runs')
  await expect(page.getByRole('heading', { name: 'Runs' })).toBeVisible()
  await give()
  await page.reload()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible()
  await page.context().close()
})

test('of what was changed since it was asked, what is there now is shown first and decided on', async ({
  page,
  api,
  house,
}) => {
  const { question, file } = await heldNote(api, 'since')
  await page.goto(`/approvals?item=${question}`)
  const note = page.getByRole('note', { name: 'Changed since this was asked' })
  await expect(page.getByRole('button', { name: /^Approve “Save the note”/ })).toBeEnabled()
  await expect(note).toBeHidden()
  mkdirSync(path.dirname(file(house)), { recursive: true })
  writeFileSync(file(house), 'By somebody else.\n')
  await page.reload()
  await expect(note).toContainText('Approving does what “As it is now” shows')
  await expect(note.getByRole('radio', { name: 'As it is now' })).toBeChecked()
  await expect(page.getByText('By somebody else.')).toBeVisible()
  await isClean(page)
  await note.getByRole('radio', { name: 'What changed' }).click()
  await expect(page.getByRole('heading', { name: 'Changed by others since' })).toBeVisible()
  await expect(page.getByText('By somebody else.')).toBeVisible()
  await note.getByRole('radio', { name: 'As asked' }).click()
  await expect(page.getByText('By somebody else.')).toBeHidden()
  await page.getByRole('button', { name: /^Approve “Save the note”/ }).click()
  await expect.poll(async () => (await api.approval(question)).state).toBe('decided')
  await page.goto(`/approvals?item=${question}&show=decided`)
  await expect(note).toContainText('it was decided on the difference “As decided”.')
  await expect(page.getByText('By somebody else.')).toBeVisible()
})

test('of two who decide, the second is told who decided and when', async ({
  page,
  browser,
  house,
  api,
  signedIn,
}) => {
  const grace = await someone(browser, house, signedIn, 'grace', ['operator'])
  const { question } = await heldNote(api, 'stale')
  // Ada's page hears nothing after it was loaded: she decides what is on her screen.
  await page.route('**/api/v1/stream*', (route) => route.abort())
  for (const each of [page, grace.page]) {
    await each.goto(`/approvals?item=${question}`)
    await expect(each.getByRole('button', { name: /^Approve “Save the note”/ })).toBeEnabled()
  }
  await grace.page.getByRole('button', { name: /^Approve “Save the note”/ }).click()
  await expect(grace.page.getByText('Approved “Save the note”')).toBeVisible()
  await page.getByRole('button', { name: /^Refuse “Save the note”/ }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Refuse/ })
    .click()
  await expect(page.getByRole('alert').filter({ hasText: 'Your refusal was not taken' })).toContainText(
    /grace approved this step .* before you/,
  )
  await grace.page.context().close()
})

test('what is edited shows as a difference, and is what gets written', async ({ page, house, api }) => {
  const { question, run, file } = await heldNote(api, 'edited')
  await page.goto(`/approvals?item=${question}`)
  await page.getByRole('button', { name: /^Edit the change/ }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText('Nothing yet.')
  await dialog.getByLabel('content').fill('# edge-router-07\n\nEdited by hand.\n')
  await expect(dialog).toContainText('Edited by hand.')
  await dialog.getByRole('button', { name: /with this edit$/ }).click()
  await expect(page.getByText('Approved “Save the note”')).toBeVisible()
  await expect.poll(async () => (await api.run(run)).row.terminal).toBe('success')
  expect(readFileSync(file(house), 'utf8')).toBe('# edge-router-07\n\nEdited by hand.\n')
  expect((await api.approval(question)).decision).toMatchObject({ edited: true, by: 'person:ada' })
})

test('a refusal keeps the step from running, and its reason', async ({ page, house, api }) => {
  const { question, run, file } = await heldNote(api, 'refused')
  await page.goto(`/approvals?item=${question}`)
  await page.getByRole('button', { name: /^Refuse “Save the note”/ }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox').fill('Not during the freeze.')
  await dialog.getByRole('button', { name: /^Refuse “Save the note”/ }).click()
  await expect(page.getByText('Refused “Save the note”')).toBeVisible()
  await expect.poll(async () => (await api.run(run)).row.terminal).toBe('failed')
  expect(existsSync(file(house))).toBe(false)
  await page.goto(`/runs/${run}?node=save`)
  await expect(page.getByRole('complementary', { name: 'Save the note' })).toContainText(
    'Not during the freeze.',
  )
})

test('a comment is kept with the question', async ({ page, api }) => {
  const { question } = await heldNote(api, 'commented')
  await page.goto(`/approvals?item=${question}`)
  await expect(page.getByRole('region', { name: 'Decision' })).toContainText('notes/commented.md')
  await page.keyboard.press('m')
  await page.keyboard.type('Is the freeze over?')
  await page.keyboard.press('Control+Enter')
  await expect(page.getByRole('region', { name: 'Decision' })).toContainText('Is the freeze over?')
  await expect.poll(async () => (await api.approval(question)).comments.length).toBe(1)
})

/** On to a question of the inbox with j or k, one row a key: others may wait between. */
async function walkTo(page: Page, question: string): Promise<void> {
  const rows = page.locator('a[href^="/approvals?item="]')
  const idOf = (href: string) => new URL(href, page.url()).searchParams.get('item')
  const read = () =>
    rows.evaluateAll((links) => ({
      hrefs: links.map((link) => link.getAttribute('href') ?? ''),
      at: links.findIndex((link) => link.getAttribute('aria-current') === 'true'),
    }))
  await expect(page.locator(`a[href="/approvals?item=${question}"]`)).toBeVisible()
  const { hrefs, at } = await read()
  const to = hrefs.findIndex((href) => idOf(href) === question)
  const step = Math.sign(to - at)
  for (let row = at; row !== to; row += step) {
    await page.keyboard.press(step > 0 ? 'j' : 'k')
    await expect.poll(async () => (await read()).at).toBe(row + step)
  }
}

test('the inbox is worked through with j, k, a and x alone', async ({ page, api }) => {
  const first = await heldNote(api, 'keys-1')
  const second = await heldNote(api, 'keys-2')
  await page.goto(`/approvals?item=${first.question}`)
  const decision = page.getByRole('region', { name: 'Decision' })
  await expect(decision).toContainText('notes/keys-1.md')
  await walkTo(page, second.question)
  await expect(decision).toContainText('notes/keys-2.md')
  await page.keyboard.press('a')
  await expect(page.getByText('Approved “Save the note”')).toBeVisible()
  await expect.poll(async () => (await api.approval(second.question)).decision?.verdict).toBe('approve')

  // The next question came by itself: a key that was meant for the one before answers nothing.
  await expect(decision).not.toContainText('notes/keys-2.md')
  await expect(decision.getByRole('heading', { level: 2 })).toBeVisible()
  await page.keyboard.press('a')
  await expect(decision.getByRole('alert')).toContainText('This question came up by itself')
  expect((await api.approval(first.question)).state).toBe('open')

  await page.goto(`/approvals?item=${first.question}`)
  await expect(decision).toContainText('notes/keys-1.md')
  await page.keyboard.press('x')
  await expect(page.getByRole('dialog')).toBeVisible()
  await page.keyboard.press('Control+Enter')
  await expect(page.getByText('Refused “Save the note”')).toBeVisible()
  await expect.poll(async () => (await api.approval(first.question)).decision?.verdict).toBe('refuse')
})

test.describe('on a phone', () => {
  test.use({ viewport: { width: 375, height: 667 }, hasTouch: true, isMobile: true })

  test('a question is found, read and decided, without scrolling sideways', async ({ page, api }) => {
    const { question, run } = await heldNote(api, 'phone')
    await page.goto('/')
    await page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: /Approvals/ })
      .tap()
    await page.locator(`a[href*="${question}"]`).tap()
    await expect(page.getByRole('region', { name: 'Decision' })).toContainText('notes/phone.md')
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(375)
    await page.getByRole('button', { name: /^Approve “Save the note”/ }).tap()
    await expect.poll(async () => (await api.run(run)).row.terminal).toBe('success')
  })
})

test('what cannot be undone is held, not clicked', async ({ page, api, house }) => {
  await api.importWorkflow({
    wf_id: 'for-good',
    policy: { roots: [{ path: 'notes', access: 'write' }] },
    nodes: [
      {
        id: 'burn',
        label: 'Burn it in',
        reversible: false,
        hitl_required: true,
        action: { type: 'write_file', path: 'notes/burnt.md', content: 'done\n' },
      },
    ],
    edges: [],
  })
  const run = await api.startRun('for-good')
  const question = (await api.held(run)).id
  await page.goto(`/approvals?item=${question}`)
  await expect(page.getByText('Cannot be undone.')).toBeVisible()
  await page.getByRole('button', { name: /^Approve “Burn it in”/ }).click()
  expect((await api.approval(question)).state).toBe('open')
  await hold(page, /^Approve “Burn it in”/)
  await expect.poll(async () => (await api.run(run)).row.terminal).toBe('success')
  expect(readFileSync(path.join(house.data, 'files/notes/burnt.md'), 'utf8')).toBe('done\n')
  await page.goto(`/runs/${run}`)
  await expect(status(page)).toContainText('succeeded')
})

/** A run of config-note that waits for somebody to read `notes/<name>.md`. */
async function heldNote(api: Api, name: string) {
  const file = `notes/${name}.md`
  const run = await api.startRun('config-note', {
    device: 'edge-router-07',
    change: `A change: ${name}.`,
    path: file,
  })
  return {
    run,
    question: (await api.held(run)).id,
    file: (house: House) => path.join(house.data, 'files', file),
  }
}
