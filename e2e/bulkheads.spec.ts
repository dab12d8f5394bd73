/*
 * Two workflows want the same agent. An administrator leaves it one place, sees who has it and who waits, and gives the
 * places back.
 */
import type { Page } from '@playwright/test'
import type { Api } from './api'
import { isClean } from './is-clean'
import { OutsideAgent } from './outside-agent'
import { expect, register, test } from './test'

const workflows = ['bulk-first', 'bulk-second'] as const

const pool = (page: Page, agent: OutsideAgent) => page.getByRole('region', { name: agent.name, exact: true })

/** Types numbers into the dialog of an agent's bounds; gives what stood there. */
async function setBounds(page: Page, agent: OutsideAgent, wanted: Record<string, string>) {
  const change = `Change the bounds of ${agent.name}`
  await pool(page, agent).getByRole('button', { name: change }).click()
  const dialog = page.getByRole('dialog', { name: `Bounds of ${agent.name}` })
  const before: Record<string, string> = {}
  for (const [label, number] of Object.entries(wanted)) {
    const field = dialog.getByLabel(label, { exact: true })
    before[label] = await field.inputValue()
    await field.fill(number)
  }
  await isClean(page)
  await dialog.getByRole('button', { name: change }).click()
  await expect(page.getByText(`The bounds of ${agent.name} are changed`).first()).toBeVisible()
  return before
}

async function started(api: Api, workflow: string, agent: OutsideAgent): Promise<string> {
  const step = { id: 'change', label: 'Change it', reversible: true, hitl_required: false }
  await api.importWorkflow({
    wf_id: workflow,
    nodes: [{ ...step, agent: agent.id, agent_config: { operation: 'change' } }],
    edges: [],
  })
  return api.startRun(workflow)
}

test('an agent with one place is taken by one workflow while the other waits, and both come to it', async ({
  page,
  api,
  house,
}) => {
  const agent = new OutsideAgent('narrow-gate')
  await agent.listen()
  await register(page.context(), house, agent)
  const row = (workflow: string) => pool(page, agent).getByRole('listitem').filter({ hasText: workflow })
  const letGo = agent.holdEffects()
  try {
    await page.goto('/bulkheads')
    await expect(pool(page, agent)).toContainText(/0 of \d+ places taken/)
    const before = await setBounds(page, agent, { Places: '1', 'Places of one workflow': '1' })
    await expect(pool(page, agent)).toContainText('0 of 1 place taken')

    const [first, second] = workflows
    const runs = [await started(api, first, agent)]
    await expect(row(first)).toContainText('1 of 1 at work, full')
    runs.push(await started(api, second, agent))
    await expect(row(second)).toContainText('0 of 1 at work')
    await expect(row(second)).toContainText(/1 step waits, the first for \d/)
    await expect(row(first)).toContainText('nobody waits')
    await expect(pool(page, agent)).toContainText('1 of 1 place taken')
    await isClean(page)

    letGo()
    for (const run of runs) await expect.poll(async () => (await api.run(run)).row.terminal).toBe('success')
    await expect(pool(page, agent)).toContainText('0 of 1 place taken')
    await expect(row(second)).toContainText('nobody waits')

    await setBounds(page, agent, before)
    await expect(pool(page, agent)).toContainText(`0 of ${before.Places} places taken`)
  } finally {
    letGo()
    await agent.stop()
  }
})
