/*
 * Two runs change the same agent, and the first one is taken back: the preview says that its target was changed since and
 * by which run, nothing is put back unless the operator says so, and what says so is on the screen. Of a file the operator
 * is shown beforehand what would be undone.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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

const steered = (api: Api, share: number) => doneRun(api, `steer-${share}`, workflow(share))

async function doneRun(api: Api, name: string, workflow: object): Promise<string> {
  await api.importWorkflow(workflow)
  const run = await api.startRun(name)
  await expect.poll(async () => (await api.run(run)).row.status).toBe('ended')
  return run
}

/** A run's id as sentences shorten it. */
const short = (run: string) => `${run.slice(0, 8)}…${run.slice(-4)}`

const whoDid = (note: Locator) => note.getByRole('link', { name: 'See what it did' })

test('what another run changed since is not put back without a word', async ({ page, api, house }) => {
  const weights = () => readFileSync(path.join(house.data, 'lab', steering, 'weights.json'), 'utf8')
  const before = weights()
  const first = await steered(api, 62)
  const second = await steered(api, 71)
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
    await expect(row).toContainText(/cannot prepare\s*: its target was changed since/)
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
    const undone = page.getByRole('region', { name: 'What putting it back would undo' })
    await expect(undone).toContainText('As dns-steering tells it')
    await expect(undone.getByRole('region', { name: 'Changes of weights.json' })).toContainText(
      'removed: "transit-b": 71',
    )
    await page.getByRole('button', { name: 'Put it back all the same' }).click()
    const dialog = page.getByRole('dialog')
    const answer = dialog.getByRole('button', { name: 'Put it back all the same' })
    await expect(answer).toBeDisabled()
    await dialog.getByRole('textbox').fill('71 was wrong as well')
    await isClean(page)
    await answer.click()
    await expect(status(page)).toContainText(/taken back/i)
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

const writing = (name: string, content: string) => ({
  wf_id: name,
  description: 'Writes the uplink configuration',
  policy: { roots: [{ path: 'uplinks', access: 'write' }] },
  nodes: [
    {
      id: 'write',
      label: 'Write the uplinks',
      reversible: true,
      hitl_required: false,
      action: { type: 'write_file', path: 'uplinks/uplinks.conf', content },
    },
  ],
  edges: [],
})

const uplinks = (mtu: number, note = '') => `# uplinks\nmtu ${mtu}\nneighbor 10.0.0.2\n${note}`

test('what putting a file back would undo is shown before it is decided', async ({ page, api, house }) => {
  const folder = path.join(house.data, 'files', 'uplinks')
  const at = path.join(folder, 'uplinks.conf')
  mkdirSync(folder, { recursive: true })
  writeFileSync(at, uplinks(1500))
  const first = await doneRun(api, 'uplinks-jumbo', writing('uplinks-jumbo', uplinks(9000)))
  await doneRun(api, 'uplinks-small', writing('uplinks-small', uplinks(1400, 'neighbor 10.0.0.3\n')))
  const preview = `/runs/${first}/rollback?node=write&scope=sub_dag`
  const lines = (within: Locator) => within.getByRole('region', { name: 'Changes of uplinks/uplinks.conf' })

  await test.step('in the preview, a click away, by keyboard too', async () => {
    await page.goto(preview)
    const note = page.getByRole('note', { name: 'Changed since' })
    const opens = note.getByRole('button', { name: 'What putting it back would undo' })
    await opens.focus()
    await page.keyboard.press('Enter')
    await expect(opens).toHaveAttribute('aria-expanded', 'true')
    await expect(lines(note)).toContainText('removed: mtu 1400')
    await expect(lines(note)).toContainText('added: mtu 1500')
    await expect(lines(note)).toContainText('removed: neighbor 10.0.0.3')
    await isClean(page)
  })

  await test.step('on the card, and of a file that was deleted meanwhile once one looks again', async () => {
    await hold(page, /^Ask first about 1 step whose target was changed since/)
    await expect(status(page)).toContainText('Waits for operator')
    await page.goto('/approvals')
    await page
      .getByRole('link', { name: /Write the uplinks/ })
      .first()
      .click()
    const shown = page.getByRole('region', { name: 'What putting it back would undo' })
    await expect(lines(shown)).toContainText('removed: mtu 1400')
    await isClean(page)
    rmSync(at)
    await shown.getByRole('button', { name: 'Look again' }).click()
    await expect(shown).toContainText('It was deleted since and would be written again.')
    writeFileSync(at, Buffer.from([0, 1, 2, 3]))
    await shown.getByRole('button', { name: 'Look again' }).click()
    await expect(shown).toContainText('It is not text, so only sizes and hashes are compared.')
    await expect(shown).toContainText('4 bytes')
    await page.setViewportSize({ width: 375, height: 812 })
    await isClean(page)
  })

  await test.step('and that is what is done', async () => {
    await page.getByRole('button', { name: 'Put it back all the same' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox').fill('both were wrong')
    await dialog.getByRole('button', { name: 'Put it back all the same' }).click()
    await expect.poll(() => readFileSync(at, 'utf8')).toBe(uplinks(1500))
  })
})
