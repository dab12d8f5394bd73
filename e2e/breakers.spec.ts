/* Breakers as an operator meets them: one is held open with a reason, a run waits behind it and says so, and goes on once it is lifted. */
import type { Page } from '@playwright/test'
import { isClean } from './is-clean'
import { expect, graphNode, status, test } from './test'

const router = 'edge-router-07'

/** Asks the router of the lab whether its configuration holds; changes nothing and needs nobody. */
const workflow = {
  wf_id: 'look-at-router',
  description: 'Asks the router whether its configuration holds',
  nodes: [
    {
      id: 'validate',
      label: 'Validate the configuration',
      hitl_required: false,
      resource_hints: { priority: 'normal', timeout_s: 30 },
      agent: `spiffe://holdpoint.local/agent/${router}`,
      agent_config: { operation: 'validate-config' },
    },
  ],
  edges: [],
}

const reason = 'No calls to the router while it is being serviced.'

test('a breaker held open keeps a run waiting, and lifting it lets the run go on', async ({ page, api }) => {
  await api.importWorkflow(workflow)
  const first = await api.startRun(workflow.wf_id)
  await expect.poll(async () => (await api.run(first)).row.terminal).toBe('success')

  await test.step('the call that was made is on the map', async () => {
    await page.goto('/breakers')
    await onMap(page).click()
    await expect(panel(page).getByText('closed', { exact: true })).toBeVisible()
    await expect(panel(page)).toContainText('Calls pass.')
    await isClean(page)
  })

  await test.step('a person holds it open, and must say why', async () => {
    await panel(page).getByRole('button', { name: 'Hold open…' }).click()
    const dialog = page.getByRole('dialog', { name: `Hold the breaker to ${router} open` })
    await dialog.getByRole('button', { name: `Hold ${router} open` }).click()
    await expect(dialog.getByText('Say why: whoever comes after you reads it.')).toBeVisible()
    await dialog.getByLabel('Reason').fill(reason)
    await dialog.getByLabel('For how long').selectOption({ label: '15 minutes' })
    await isClean(page)
    await dialog.getByRole('button', { name: `Hold ${router} open` }).click()
    await expect(dialog).toBeHidden()
    await expect(panel(page).getByText('forced open', { exact: true })).toBeVisible()
    await expect(panel(page)).toContainText(reason)
    await expect(panel(page)).toContainText('by itself closed')
    await expect(page.getByText('1 forced').first()).toBeVisible()
  })

  const run = await api.startRun(workflow.wf_id)
  await test.step('a run waits behind it, in words', async () => {
    await page.goto(`/runs/${run}?node=validate`)
    await expect(graphNode(page, 'Validate the configuration')).toHaveAccessibleName(
      new RegExp(`waits for ${router}.*breaker forced open`),
    )
    const inspector = page.getByRole('complementary', { name: 'Validate the configuration' })
    await expect(inspector.getByRole('note')).toContainText(`Waits for ${router}`)
    await expect(inspector.getByRole('note')).toContainText('A person holds its breaker open.')
    await isClean(page)
    await inspector.getByRole('link', { name: 'Its breaker' }).click()
    await expect(panel(page)).toContainText('1 run waits behind it')
    await expect(panel(page).getByRole('link', { name: /^run_/ })).toHaveAttribute('href', `/runs/${run}`)
  })

  await test.step('the overview and the history say so too', async () => {
    await panel(page).getByRole('button', { name: 'History' }).click()
    const history = page.getByRole('region', { name: 'History' })
    await expect(history).toContainText('Forced open until')
    await expect(history).toContainText(reason)
    await expect(history).toContainText('ada')
    await isClean(page)
    await page.goto('/')
    await page.getByRole('link', { name: '1 breaker forced' }).click()
    await expect(page.getByRole('heading', { name: 'Breakers' })).toBeVisible()
  })

  await test.step('on a phone it is a list, and one breaker at a time', async () => {
    await page.setViewportSize({ width: 375, height: 812 })
    await page.goto('/breakers?show=troubled')
    await isClean(page)
    await page.getByRole('button', { name: `Open the breaker ${workflow.wf_id} to ${router}` }).click()
    await expect(panel(page)).toContainText(reason)
    await isClean(page)
    await page.setViewportSize({ width: 1280, height: 720 })
  })

  await test.step('lifted, the run goes on', async () => {
    await panel(page).getByRole('button', { name: 'Lift…' }).click()
    const dialog = page.getByRole('dialog', { name: `Lift what was forced on ${router}` })
    await dialog.getByLabel('Reason').fill('It is back in service.')
    await dialog.getByRole('button', { name: `Lift it from ${router}` }).click()
    await expect(dialog).toBeHidden()
    await page.goto(`/runs/${run}`)
    await expect(status(page)).toContainText('succeeded')
  })
})

test('the map is walked by arrow keys, and Enter opens', async ({ page, api }) => {
  await api.importWorkflow(workflow)
  const other = { ...workflow, wf_id: 'look-at-router-again' }
  await api.importWorkflow(other)
  for (const { wf_id } of [workflow, other]) {
    const run = await api.startRun(wf_id)
    await expect.poll(async () => (await api.run(run)).row.terminal).toBe('success')
  }
  await page.goto('/breakers')
  const map = page.getByRole('region', { name: 'Map of callers and called' })
  await expect(map.getByRole('button')).not.toHaveCount(0)
  const [upper, lower] = await inOrder(map.getByRole('button'))
  await map.getByRole('button', { name: upper, exact: true }).click()
  await page.keyboard.press('ArrowDown')
  const below = map.getByRole('button', { name: lower, exact: true })
  await expect(below).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(below).toHaveAttribute('aria-pressed', 'true')
  await expect(page).toHaveURL(/circuit=/)
})

/** The circuit of this file's workflow, on the map. */
function onMap(page: Page) {
  const map = page.getByRole('region', { name: 'Map of callers and called' })
  return map.getByRole('button', { name: new RegExp(`^${workflow.wf_id} to ${router}:`) })
}

function panel(page: Page) {
  return page.getByRole('region', { name: `${workflow.wf_id} to ${router}`, exact: true })
}

/** Names of the uppermost two in a column. */
async function inOrder(buttons: ReturnType<Page['getByRole']>): Promise<[string, string]> {
  const found = await Promise.all(
    (await buttons.all()).map(async (button) => ({
      name: (await button.getAttribute('aria-label')) ?? '',
      y: (await button.boundingBox())?.y ?? 0,
    })),
  )
  const [first, second] = found.sort((a, b) => a.y - b.y)
  return [first?.name ?? '', second?.name ?? '']
}
