/*
 * Two rollbacks of one run: somebody takes back one part of it, and an agent of that part answers late; somebody else
 * wants all of it back. The broader one takes over what is left, and the screens of both say who won and why; whoever
 * asks for as much again is refused and shown the winner. Nothing is undone twice, and all of it is back at the end.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Locator, Page } from '@playwright/test'
import type { House } from './house'
import { isClean } from './is-clean'
import { expect, hold, someone, status, test } from './test'

const labAgent = (name: string) => `spiffe://holdpoint.local/agent/${name}`
/** So many that taking them back takes minutes while their agent is slow. */
const shares = Array.from({ length: 20 }, (_, at) => 52 + 2 * at)

/** Moves traffic, then steers step by step. */
const workflow = {
  wf_id: 'moved-and-steered',
  description: 'Moves traffic at the edge, then steers step by step',
  nodes: [
    {
      ...{ id: 'move', label: 'Move the traffic', hitl_required: false, agent: labAgent('edge-router-07') },
      agent_config: { operation: 'update-bgp-peer', input: { peer: 'edge-router-08', keep_collector: true } },
    },
    ...shares.map((share, at) => ({
      ...{ id: `steer-${at}`, label: `Steer to ${share}`, hitl_required: false },
      agent: labAgent('dns-steering'),
      agent_config: { operation: 'shift-weight', input: { transit_b: share } },
    })),
  ],
  edges: shares.map((_, at) => ({ from: at === 0 ? 'move' : `steer-${at - 1}`, to: `steer-${at}` })),
}

const onlySteered = { nodes: workflow.nodes.slice(1, 2), edges: [] }

/** Long enough to be met on its way, and less than an agent has for its vote. */
const lateMs = 3500

async function make(page: Page, house: House, fault: { kind: 'slow'; ms: number } | { kind: 'none' }) {
  const answer = await page.context().request.post(`${house.origin}/api/v1/lab/agents/dns-steering/fault`, {
    headers: { origin: house.origin },
    data: fault,
  })
  expect(answer.status(), await answer.text()).toBe(200)
}

const stateOf = (house: House, agent: string, file: string) =>
  readFileSync(path.join(house.data, 'lab', agent, file), 'utf8')

/** Holds the button of a preview until the screen says what came of it. */
async function holdUntilTold(page: Page, name: RegExp, told: Locator): Promise<void> {
  await page.getByRole('button', { name }).hover()
  await page.mouse.down()
  await expect(told).toBeVisible()
  await page.mouse.up()
}

test('a broader rollback takes over a narrower one under way, and both sides see who won', async ({
  page,
  browser,
  api,
  house,
  signedIn,
}) => {
  const before = [
    stateOf(house, 'edge-router-07', 'running-config'),
    stateOf(house, 'dns-steering', 'weights.json'),
  ]
  await api.importWorkflow(workflow)
  const run = await api.startRun('moved-and-steered')
  await expect.poll(async () => (await api.run(run)).row.status).toBe('ended')

  const { page: other } = await someone(browser, house, signedIn, 'hedy', ['operator', 'coordinator'])
  const third = await page.context().newPage()
  for (const one of [page, other, third]) await one.goto(`/runs/${run}/rollback?node=steer-0&scope=sub_dag`)
  await expect(
    page.getByRole('heading', { name: new RegExp(`^Restores ${shares.length} steps`) }),
  ).toBeVisible()
  try {
    await make(page, house, { kind: 'slow', ms: lateMs })
    await page.getByRole('combobox', { name: 'May take' }).selectOption('5 minutes')
    await hold(page, new RegExp(`^Restore ${shares.length} steps`))
    await expect(
      page.getByRole('button', { name: 'Take it over with one that reaches further…' }),
    ).toBeVisible()

    await test.step('somebody else previews all of it beside the one under way', async () => {
      const preview = async (one: Page) => {
        await one.getByRole('button', { name: 'Take it over with one that reaches further…' }).click()
        await expect(one.getByRole('region', { name: 'ada’s rollback is under way.' })).toContainText(
          'One that reaches further wins and takes it over',
        )
      }
      await Promise.all([other, third].map(preview))
    })

    await test.step('and takes it over at the first asking', async () => {
      await other.getByRole('combobox', { name: 'May take' }).selectOption('5 minutes')
      await hold(other, /^Restore \d+ steps?/)
      const won = other.getByRole('region', { name: 'This one won, and took a narrower rollback over.' })
      await expect(won).toContainText('hedy’s rollback won')
      await expect(won).toContainText('the broader of two wins')
      const lost = page.getByRole('region', { name: 'This one lost: a broader rollback took it over.' })
      await expect(lost).toContainText('hedy’s rollback won')
      await expect(lost).toContainText('What was not taken back here, it takes back')
    })

    await test.step('a preview of less says that it was not begun, and that it would be refused', async () => {
      const narrower = await page.context().newPage()
      await narrower.goto(`/runs/${run}/rollback?node=steer-9&scope=single`)
      await expect(
        narrower.getByText(/^Yours, “this step”, was not begun: hedy’s rollback is under way/),
      ).toContainText('one that reaches no further is refused')
      await narrower.close()
    })

    await test.step('whoever asks for as much again is shown the winner', async () => {
      const title = 'Nothing was done: this one lost to a rollback under way.'
      const lost = third.getByRole('alert', { name: title })
      await expect(third.getByRole('region', { name: 'hedy’s rollback is under way.' })).toBeVisible()
      await holdUntilTold(third, /^Restore \d+ steps?/, lost)
      await expect(lost).toContainText('reaches as far and was asked for first')
      for (const one of [page, third]) await isClean(one)
    })
  } finally {
    await make(page, house, { kind: 'none' })
  }

  await expect(status(other)).toContainText(/taken back/i)
  await isClean(other)
  expect(
    [stateOf(house, 'edge-router-07', 'running-config'), stateOf(house, 'dns-steering', 'weights.json')],
    'byte for byte',
  ).toEqual(before)
  await other.getByRole('button', { name: 'End the run' }).click()
  await expect.poll(async () => (await api.run(run)).row.status).toBe('ended')
  await other.context().close()
  await third.close()
})

test('of two who ask at once, the second stays on the plan and is told who won', async ({
  page,
  browser,
  api,
  house,
  signedIn,
}) => {
  await api.importWorkflow({ ...workflow, wf_id: 'steered-once', ...onlySteered })
  const run = await api.startRun('steered-once')
  await expect.poll(async () => (await api.run(run)).row.status).toBe('ended')
  const { page: other } = await someone(browser, house, signedIn, 'emmy', ['operator'])
  for (const one of [page, other]) {
    await one.goto(`/runs/${run}/rollback?node=steer-0&scope=single`)
    await expect(one.getByRole('heading', { name: /^Restores 1 step/ })).toBeVisible()
  }
  let isUnderWay: () => void = () => undefined
  const underWay = new Promise<void>((resolve) => {
    isUnderWay = resolve
  })
  await other.route(`**/api/v1/runs/${run}/rollbacks`, async (route) => {
    await underWay
    await route.continue()
  })
  try {
    await make(page, house, { kind: 'slow', ms: lateMs })
    await hold(other, /^Restore 1 step/)
    await hold(page, /^Restore 1 step/)
    await expect(page.getByRole('heading', { name: 'Rollback', exact: true })).toBeVisible()
    await expect.poll(async () => (await api.run(run)).row.status).toBe('rolling_back')
    isUnderWay()
    const lost = other.getByRole('alert', {
      name: 'Nothing was done: this one lost to a rollback under way.',
    })
    await expect(lost).toContainText('ada’s rollback won')
  } finally {
    await make(page, house, { kind: 'none' })
  }
  await expect(status(page)).toContainText(/taken back/i)
  await page.getByRole('button', { name: 'End the run' }).click()
  await expect.poll(async () => (await api.run(run)).row.status).toBe('ended')
  await other.context().close()
})
