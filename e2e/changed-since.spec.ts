/*
 * Two runs change the same agent, and the first one is taken back: the preview says that its target was changed since and
 * by which run, nothing is put back unless the operator says so, and what says so is on the screen.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Locator } from '@playwright/test'
import type { Api } from './api'
import { isClean } from './is-clean'
import { expect, graphNode, hold, status, test } from './test'

const steering = 'dns-steering'

const workflow = (share: number) => ({
  wf_id: `steer-${share}`,
  description: `Sends ${share} % of new connections over transit-b`,
  nodes: [
    {
      id: 'steer',
      label: 'Steer the traffic',
      hitl_required: false,
      agent: `spiffe://holdpoint.local/agent/${steering}`,
      agent_config: { operation: 'shift-weight', input: { transit_b: share } },
    },
  ],
  edges: [],
})

async function doneRun(api: Api, share: number): Promise<string> {
  await api.importWorkflow(workflow(share))
  const run = await api.startRun(`steer-${share}`)
  await expect.poll(async () => (await api.run(run)).row.status, { timeout: 45_000 }).toBe('ended')
  return run
}

/** A run's id as sentences shorten it. */
const short = (run: string) => `${run.slice(0, 8)}…${run.slice(-4)}`

const whoDid = (note: Locator) => note.getByRole('link', { name: 'See what it did' })

test('what another run changed since is not put back without a word', async ({ page, api, house }) => {
  const weights = () => readFileSync(path.join(house.data, 'lab', steering, 'weights.json'), 'utf8')
  const before = weights()
  const first = await doneRun(api, 62)
  const second = await doneRun(api, 71)
  const after = weights()
  const preview = `/runs/${first}/rollback?node=steer&scope=sub_dag`
  const note = page.getByRole('note', { name: 'Changed since' })
  const anyway = page.getByLabel('Put it back all the same (1 target changed since)')
  const row = page.getByRole('region', { name: 'Agents of the rollback' }).getByRole('row').nth(1)

  await test.step('the preview says so, and what follows', async () => {
    await page.goto(preview)
    await expect(note).toContainText(
      `weights.json of dns-steering was changed since "Steer the traffic" by "Steer the traffic" of steer-71 in ${short(second)} on `,
    )
    await expect(note).toContainText(/ UTC; putting it back would undo that, too\./)
    await expect(whoDid(note)).toHaveAttribute('href', `/runs/${second}?node=steer`)
    await expect(anyway).not.toBeChecked()
    await expect(note).toContainText('Otherwise nothing is done to it')
    await expect(graphNode(page, 'Steer the traffic')).toContainText('changed since')
    await expect(row).toContainText('changed since the step')
    await expect(
      page.getByRole('heading', { name: 'Asks first about 1 step whose target was changed since.' }),
    ).toBeVisible()
    await isClean(page)
  })

  await test.step('rolled back as it is, somebody is asked and nothing is done', async () => {
    await hold(page, /^Ask first about 1 step whose target was changed since/)
    await expect(row).toContainText(/cannot prepare\s*: it is not as this run left it/)
    const decision = page.getByRole('region', { name: 'Decision' })
    await expect(decision).toContainText(`by "Steer the traffic" of steer-71 in ${short(second)} on `)
    await decision.getByRole('button', { name: 'Call it off' }).click()
    const reason = page.getByRole('dialog')
    if (await reason.isVisible()) await reason.getByRole('button', { name: 'Call it off' }).click()
    await expect.poll(async () => (await api.run(first)).row.status).toBe('ended')
    expect(weights(), 'nothing was changed').toBe(after)
  })

  await test.step('by an explicit word it is promised to be put back all the same', async () => {
    await page.goto(preview)
    await anyway.check()
    await expect(page.getByRole('heading', { name: 'Restores 1 step on 1 agent.' })).toBeVisible()
    await isClean(page)
    await anyway.uncheck()
  })

  await test.step('asked about it, whoever answers so with a reason has it put back, and their name stands there', async () => {
    await hold(page, /^Ask first about 1 step whose target was changed since/)
    await expect(status(page)).toContainText('Waits for operator')
    await page.getByRole('button', { name: 'Put it back all the same' }).click()
    const dialog = page.getByRole('dialog')
    const answer = dialog.getByRole('button', { name: 'Put it back all the same' })
    await expect(answer).toBeDisabled()
    await dialog.getByRole('textbox').fill('71 was wrong as well')
    await isClean(page)
    await answer.click()
    await expect(status(page)).toContainText(/taken back/i, { timeout: 45_000 })
    await expect(page.getByText('had Steer the traffic put back all the same')).toContainText(
      '71 was wrong as well',
    )
    await expect(row).toContainText('matches the seal')
    expect(weights(), 'byte for byte').toBe(before)
    await page.getByRole('button', { name: 'End the run' }).click()
  })

  await test.step('and now the other run’s preview says it', async () => {
    await page.goto(`/runs/${second}/rollback?node=steer&scope=sub_dag`)
    await expect(note).toContainText(
      `by the rollback of "Steer the traffic" of steer-62 in ${short(first)} on `,
    )
    await whoDid(note).click()
    await expect(page).toHaveURL(`/runs/${first}?node=steer`)
  })
})
