/* Breakers as an operator meets them: one is held open with a reason, a run waits behind it and says so, and goes on once it is lifted. */
import type { Page } from '@playwright/test'
import type { CircuitList } from '@/lib/view/circuit-wire'
import type { Api } from './api'
import { isClean } from './is-clean'
import { expect, graphNode, status, test } from './test'

const router = 'edge-router-07'
const reason = 'No calls to the router while it is being serviced.'

test('a breaker held open keeps a run waiting, and lifting it lets the run go on', async ({ page, api }) => {
  const name = 'look-at-router'
  await called(api, name)

  await test.step('the call that was made is on the map', async () => {
    await page.goto('/breakers')
    const map = page.getByRole('region', { name: 'Map of callers and called' })
    await map.getByRole('button', { name: new RegExp(`^${name} to ${router}:`) }).click()
    await expect(panel(page, name).getByText('closed', { exact: true })).toBeVisible()
    await expect(panel(page, name)).toContainText('Calls pass.')
  })

  await test.step('a person holds it open, and must say why', async () => {
    await panel(page, name).getByRole('button', { name: 'Hold open…' }).click()
    const dialog = page.getByRole('dialog', { name: `Hold the breaker to ${router} open` })
    await dialog.getByRole('button', { name: `Hold ${router} open` }).click()
    await expect(dialog.getByText('Say why: whoever comes after you reads it.')).toBeVisible()
    await dialog.getByLabel('Reason').fill(reason)
    await dialog.getByLabel('For how long').selectOption({ label: '15 minutes' })
    await isClean(page)
    await dialog.getByRole('button', { name: `Hold ${router} open` }).click()
    await expect(dialog).toBeHidden()
    await expect(panel(page, name).getByText('forced open', { exact: true })).toBeVisible()
    await expect(panel(page, name)).toContainText(reason)
    await expect(panel(page, name)).toContainText('by itself closed')
  })

  const run = await api.startRun(name)
  await test.step('a run waits behind it, in words', async () => {
    await page.goto(`/runs/${run}?node=validate`)
    await expect(graphNode(page, 'Validate the configuration')).toHaveAccessibleName(
      new RegExp(`waits for ${router}.*breaker forced open`),
    )
    const inspector = page.getByRole('complementary', { name: 'Validate the configuration' })
    await expect(inspector.getByRole('note')).toContainText(`Waits for ${router}`)
    await expect(inspector.getByRole('note')).toContainText('A person holds its breaker open.')
    await inspector.getByRole('link', { name: 'Its breaker' }).click()
    await expect(panel(page, name)).toContainText('1 run waits behind it')
    await expect(panel(page, name).getByRole('link', { name: /^run_/ })).toHaveAttribute(
      'href',
      `/runs/${run}`,
    )
  })

  await test.step('lifted, the run goes on', async () => {
    await panel(page, name).getByRole('button', { name: 'Lift…' }).click()
    const dialog = page.getByRole('dialog', { name: `Lift what was forced on ${router}` })
    await dialog.getByLabel('Reason').fill('It is back in service.')
    await dialog.getByRole('button', { name: `Lift it from ${router}` }).click()
    await expect(dialog).toBeHidden()
    await page.goto(`/runs/${run}`)
    await expect(status(page)).toContainText('succeeded')
  })
})

test('a forced breaker shows on the overview, in its history and on a phone', async ({ page, api }) => {
  const name = 'look-again'
  const circuit = await called(api, name)
  await api.must(api.post(`/api/v1/circuits/${circuit}/force`, { to: 'open', reason, minutes: 15 }))
  const run = await api.startRun(name)
  await page.goto(`/runs/${run}?node=validate`)
  await expect(page.getByRole('note')).toContainText(`Waits for ${router}`)
  await isClean(page)

  await page.goto('/')
  await page.getByRole('link', { name: /forced$/ }).click()
  await expect(page.getByRole('heading', { name: 'Breakers' })).toBeAttached()
  await page.goto(`/breakers?circuit=${circuit}&part=history`)
  const history = page.getByRole('region', { name: 'History' })
  await expect(history).toContainText('Forced open until')
  await expect(history).toContainText(reason)
  await isClean(page)

  await page.setViewportSize({ width: 375, height: 812 })
  await page.goto('/breakers?show=troubled')
  await page.getByRole('button', { name: `Open the breaker ${name} to ${router}` }).click()
  await expect(panel(page, name)).toContainText(reason)
  await isClean(page)
  await api.must(api.post(`/api/v1/circuits/${circuit}/lift`, { reason: 'Looked at.' }))
  // Pushed: nobody reloads.
  await expect(panel(page, name).getByText('closed', { exact: true })).toBeVisible()
})

test('the map is walked by arrow keys, and Enter opens', async ({ page, api }) => {
  for (const name of ['walked-first', 'walked-second']) await called(api, name)
  await page.goto('/breakers')
  const map = page.getByRole('region', { name: 'Map of callers and called' })
  const breakers = map.getByRole('button', { name: / to [^:]+: / })
  await expect(breakers).not.toHaveCount(0)
  const [upper, lower] = await inOrder(breakers)
  await map.getByRole('button', { name: upper, exact: true }).click()
  await page.keyboard.press('ArrowDown')
  const below = map.getByRole('button', { name: lower, exact: true })
  await expect(below).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(below).toHaveAttribute('aria-pressed', 'true')
  await expect(page).toHaveURL(/circuit=/)
})

test('lines that run together name their workflows, and one is chosen by keyboard or pointer', async ({
  page,
  api,
}) => {
  for (const name of ['together-first', 'together-second']) await called(api, name)
  await page.goto('/breakers')
  const map = page.getByRole('region', { name: 'Map of callers and called' })
  const shared = map.getByRole('button', { name: new RegExp(`^\\d+ callers of ${router}: .*together-first`) })
  await shared.focus()
  const tip = map.getByText(new RegExp(`^\\d+ callers of ${router}: .*together-second`))
  await expect(tip).toBeVisible()
  await page.keyboard.press('Enter')
  const menu = page.getByRole('menu')
  await isClean(page)
  await expect(menu.getByRole('menuitem', { name: /together-first/ })).toBeVisible()
  await page.keyboard.type('together-s')
  await page.keyboard.press('Enter')
  await expect(panel(page, 'together-second')).toBeVisible()
  await expect(shared).toBeFocused()
  await shared.click()
  await menu.getByRole('menuitem', { name: /together-first/ }).click()
  await expect(panel(page, 'together-first')).toBeVisible()
  for (const name of ['together-first', 'together-second'])
    await expect(page.getByRole('button', { name: `Open the breaker ${name} to ${router}` })).toBeVisible()

  // Where they run into it: named by pointing at it, chosen by a click.
  const box = await shared.boundingBox()
  const into = { x: (box?.x ?? 0) - 5, y: (box?.y ?? 0) + (box?.height ?? 0) / 2 }
  await page.mouse.move(into.x, into.y)
  await expect(tip).toBeVisible()
  await page.mouse.click(into.x, into.y)
  await menu.getByRole('menuitem', { name: /together-second/ }).click()
  await expect(panel(page, 'together-second')).toBeVisible()
})

test('an open breaker that nobody calls any more is probed by a person, once its cooldown is over', async ({
  page,
  api,
  house,
}) => {
  const name = 'called-in-vain'
  const make = async (kind: 'errors' | 'none') => {
    const at = `${house.origin}/api/v1/lab/agents/${router}/fault`
    const answer = await page
      .context()
      .request.post(at, { headers: { origin: house.origin }, data: { kind } })
    expect(answer.status(), await answer.text()).toBe(200)
  }
  await api.importWorkflow(asking(name, { 'hp.circuit_min_calls': 1, 'hp.when_open': 'fail' }))
  await make('errors')
  try {
    const run = await api.startRun(name)
    await expect.poll(async () => (await api.run(run)).row.status).toBe('ended')
  } finally {
    await make('none')
  }
  await page.goto('/breakers')
  await page.getByRole('button', { name: `Open the breaker ${name} to ${router}` }).click()
  await expect(panel(page, name)).toContainText('The first one after the cooldown is the probe')
  const probe = panel(page, name).getByRole('button', { name: 'Probe now' })
  await expect(probe).toBeVisible()
  await expect(panel(page, name)).toContainText(
    `the next call of ${name} is the probe. Until one comes it stays open`,
  )
  await isClean(page)
  await probe.click()
  await expect(page.getByText(`${router} answered the probe`).first()).toBeVisible()
  await expect(panel(page, name).getByText('closed', { exact: true })).toBeVisible()
  await panel(page, name)
    .getByRole('button', { name: /^History/ })
    .click()
  const history = page.getByRole('region', { name: 'History' })
  await expect(history).toContainText('Half-open: a question went as a probe')
  await expect(history).toContainText('ada')
})

/** Brings in a workflow that asks the lab's router whether its configuration holds, runs it once; gives its circuit. */
async function called(api: Api, name: string): Promise<string> {
  await api.importWorkflow(asking(name))
  const run = await api.startRun(name)
  await expect.poll(async () => (await api.run(run)).row.terminal).toBe('success')
  const ofName = async () => {
    const { items } = await api.must(api.get<CircuitList>('/api/v1/circuits'))
    return items.find(({ caller }) => caller.name === name)?.id
  }
  // Calls that went well are counted a second later.
  await expect.poll(ofName).toBeDefined()
  return (await ofName()) ?? ''
}

function asking(name: string, constraints: Record<string, unknown> = {}) {
  return {
    wf_id: name,
    description: 'Asks the router whether its configuration holds; changes nothing and needs nobody',
    nodes: [
      {
        id: 'validate',
        label: 'Validate the configuration',
        hitl_required: false,
        resource_hints: { priority: 'normal', timeout_s: 30 },
        constraints,
        agent: `spiffe://holdpoint.local/agent/${router}`,
        agent_config: { operation: 'validate-config' },
      },
    ],
    edges: [],
  }
}

function panel(page: Page, name: string) {
  return page.getByRole('region', { name: `${name} to ${router}`, exact: true })
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
