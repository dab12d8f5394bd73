/*
 * A run as a reviewer goes over it: back to its beginning, on from token to token, from one act of a person to the next,
 * played, and opened at a moment by a link. Whatever moment it is, the whole page shows the run as it was then.
 */
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import type { Api } from './api'
import { expect, graphNode, status, test } from './test'

/** A run of held-change that a person let go on, over. */
async function heldChange(api: Api): Promise<string> {
  const run = await api.startRun('held-change', { change: `neighbor 192.0.2.${Date.now() % 250} shutdown` })
  const card = await api.held(run)
  await api.must(
    api.post(`/api/v1/approvals/${card.id}/decision`, {
      verdict: 'approve',
      action: card.action,
      comment: 'Window is open',
    }),
  )
  await expect.poll(async () => (await api.run(run)).row.status).toBe('ended')
  return run
}

const playhead = (page: Page) => page.getByRole('slider', { name: 'Moment of the run' })
const at = (page: Page) => new URL(page.url()).searchParams.get('at')

test('a run is gone over from the keyboard: to its beginning, token by token, and back to now', async ({
  page,
  api,
}) => {
  const run = await heldChange(api)
  await page.goto(`/runs/${run}`)
  await expect(status(page)).toContainText('completed at apply')
  await expect(playhead(page)).toHaveAttribute('aria-valuetext', /following the run/)

  await page.keyboard.press('Home')
  await expect(status(page)).toContainText(/as it was at \d\d:\d\d:\d\d, token 1 of \d+/)
  await expect(graphNode(page, 'apply')).toHaveAccessibleName(/not reached/)
  await expect.poll(() => at(page)).toBe('1')

  await test.step('on by one token', async () => {
    await page.keyboard.press('ArrowRight')
    await expect(playhead(page)).toHaveAttribute('aria-valuenow', '2')
    await expect(playhead(page)).toHaveAttribute('aria-valuetext', /^token 2 of \d+, \d\d:\d\d:\d\d, ./)
  })

  await test.step('to what a person did: approved, and nothing came of it yet', async () => {
    await page.keyboard.press('Shift+ArrowRight')
    await expect(playhead(page)).toHaveAttribute('aria-valuetext', /approved, approve$/)
    await expect(graphNode(page, 'apply')).toHaveAccessibleName(/not reached/)
  })

  await test.step('a token before, it waited; it is told and cannot be answered from there', async () => {
    await page.keyboard.press('ArrowLeft')
    await expect(graphNode(page, 'approve')).toHaveAccessibleName(/waiting/)
    await expect(page.getByRole('complementary', { name: 'approve' })).toContainText('it waited for operator')
    await expect(page.getByRole('button', { name: /^Approve/ })).toHaveCount(0)
    await expect(page.getByRole('link', { name: 'Roll back…' })).toHaveCount(0)
  })

  await test.step('to the transition before, and after', async () => {
    await page.keyboard.press('[')
    const before = Number(await playhead(page).getAttribute('aria-valuenow'))
    await page.keyboard.press(']')
    await expect
      .poll(async () => Number(await playhead(page).getAttribute('aria-valuenow')))
      .toBeGreaterThan(before)
  })

  await page.keyboard.press('Escape')
  await expect(status(page)).toContainText('completed at apply')
  await expect(status(page)).not.toContainText('as it was')
  await expect.poll(() => at(page)).toBeNull()
})

test('a link opens at its moment, and what came after it is greyed in the ledger', async ({ page, api }) => {
  const run = await heldChange(api)
  await page.goto(`/runs/${run}?at=3&show=ledger`)
  await expect(status(page)).toContainText('token 3 of')
  const rows = page.getByRole('table', { name: 'Ledger' }).getByRole('row')
  await expect(rows.nth(3)).toHaveAttribute('data-place', 'here')
  await expect(rows.nth(4)).toHaveAttribute('data-place', 'later')
  await expect(page.getByRole('button', { name: /^Open token 4, .*after the moment shown$/ })).toBeVisible()

  await page.getByRole('button', { name: 'Back to now' }).click()
  await expect(status(page)).toContainText('completed at apply')
  await expect(rows.nth(4)).toHaveAttribute('data-place', 'past')
})

test('a run is played to its end, and stops when somebody takes the playhead', async ({ page, api }) => {
  const run = await heldChange(api)
  await page.goto(`/runs/${run}?at=1`)
  await expect(playhead(page)).toHaveAttribute('aria-valuenow', '1')
  const timeline = page.getByRole('region', { name: 'Timeline' })
  await timeline.getByRole('button', { name: /^Speed/ }).click()
  await page.getByRole('menuitemradio', { name: '64×' }).click()
  await timeline.getByRole('button', { name: 'Play' }).click()
  await expect(playhead(page)).toHaveAttribute('aria-valuetext', /following the run/)
  await expect(timeline.getByRole('button', { name: 'Play' })).toBeVisible()
})

test('a press on a bar goes there and chooses its step; the slider moves it on', async ({ page, api }) => {
  const run = await heldChange(api)
  await page.goto(`/runs/${run}`)
  const timeline = page.getByRole('region', { name: 'Timeline' })
  await timeline
    .getByRole('button', { name: /^approve: waiting for a person|^approve: .*tokens/ })
    .first()
    .click()
  await expect(status(page)).toContainText('as it was at')
  await expect(page).toHaveURL(/node=approve/)
  await expect(page.getByRole('complementary', { name: 'approve' })).toBeVisible()

  const before = Number(await playhead(page).getAttribute('aria-valuenow'))
  await playhead(page).focus()
  await page.keyboard.press('ArrowRight')
  await expect(playhead(page)).toHaveAttribute('aria-valuenow', String(before + 1))
})

test('what led to a failure is drawn on the graph and listed', async ({ page, api }) => {
  const run = await api.startRun('bgp-failover-peer')
  await expect.poll(async () => (await api.run(run)).row.status).toBe('ended')
  await page.goto(`/runs/${run}?node=verify-session`)
  await page.getByRole('button', { name: 'Show what led here' }).click()
  await expect(page).toHaveURL(/cause=\d+/)
  const panel = page.getByRole('complementary', { name: 'What led here' })
  await expect(panel.getByRole('listitem')).not.toHaveCount(0)
  await expect(graphNode(page, 'Check the flows')).toHaveAttribute('data-recedes', 'false')
  // No failure led there: the steps before it are named as what they are.
  await expect(panel).toContainText('No failure led here')
  await expect(panel.getByRole('listitem')).toHaveCount(3)
  await expect(panel.getByRole('listitem').nth(1)).toContainText('Move traffic to transit-b')
  await expect(panel.getByRole('listitem').nth(1)).toContainText('done before it')

  await panel.getByRole('listitem').first().getByRole('button').click()
  await expect(status(page)).toContainText('as it was at')
  await page.keyboard.press('Escape')
  await expect(panel).toHaveCount(0)
})

test('the film is clean at a moment of the past, wide and on a phone', async ({ page, api }) => {
  const run = await heldChange(api)
  for (const look of [
    { colorScheme: 'light', width: 1440, height: 900 },
    { colorScheme: 'dark', width: 1440, height: 900 },
    { colorScheme: 'dark', width: 375, height: 667 },
  ] as const) {
    await page.setViewportSize(look)
    await page.emulateMedia({ colorScheme: look.colorScheme, reducedMotion: 'reduce' })
    await page.goto(`/runs/${run}?at=4`)
    await expect(status(page)).toContainText('token 4 of')
    const { violations } = await new AxeBuilder({ page }).analyze()
    const found = violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target }) => `${id} at ${target.join(' ')}`),
    )
    expect.soft(found, `${look.colorScheme}, ${look.width} px`).toEqual([])
  }
  // The last look is the phone's: one line, moved with a thumb.
  await page.getByRole('button', { name: 'One token back' }).click()
  await expect(status(page)).toContainText('token 3 of')
  await playhead(page).fill('2')
  await expect(status(page)).toContainText('token 2 of')
})
