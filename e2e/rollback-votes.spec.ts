/*
 * Taking back across agents that others wrote: each is asked first, its vote is on the screen, and one that cannot is left
 * out by a person's word; a finished step that looks wrong is flagged, and only what used it is taken back.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Page } from '@playwright/test'
import { factoryConfig } from '@/examples/lab/running-config'
import type { FaultKind } from '@/lib/view/lab-wire'
import type { Api } from './api'
import type { House } from './house'
import { isClean } from './is-clean'
import { expect, graphNode, hold, status, test } from './test'

const labAgent = (name: string) => `spiffe://holdpoint.local/agent/${name}`

/** weigh ▶ classify, which reads what weigh gave; weigh ▶ move ▶ tell, which read nothing of it. Only tell is for good. */
const workflow = (share: number) => ({
  wf_id: 'four-agents',
  description: 'Weighs the transits, moves traffic, classifies it and tells the NOC',
  nodes: [
    node('weigh', 'Weigh the transits', 'dns-steering', 'shift-weight', { transit_b: share }),
    node('classify', 'Classify the traffic', 'classifier', 'classify-traffic'),
    node('move', 'Move the traffic', 'edge-router-07', 'update-bgp-peer', {
      peer: 'edge-router-08',
      keep_collector: true,
    }),
    {
      ...node('tell', 'Tell the NOC', 'mailer', 'send-mail', { to: 'noc@example.com', subject: 'Moved' }),
      reversible: false,
    },
  ],
  edges: [
    { from: 'weigh', to: 'classify' },
    { from: 'weigh', to: 'move' },
    { from: 'move', to: 'tell' },
  ],
})

function node(id: string, label: string, agent: string, operation: string, input?: object) {
  return {
    id,
    label,
    hitl_required: false,
    agent: labAgent(agent),
    agent_config: { operation, ...(input && { input }) },
  }
}

const stateFiles = {
  'dns-steering': 'weights.json',
  'edge-router-07': 'running-config',
} as const

function stateOf(house: House, agent: keyof typeof stateFiles): string {
  return readFileSync(path.join(house.data, 'lab', agent, stateFiles[agent]), 'utf8')
}

async function make(house: House, page: Page, agent: string, kind: FaultKind | 'none'): Promise<void> {
  const answer = await page.context().request.post(`${house.origin}/api/v1/lab/agents/${agent}/fault`, {
    headers: { origin: house.origin },
    data: { kind },
  })
  expect(answer.status(), await answer.text()).toBe(200)
}

/** A run of it that has ended, with that share of new connections on transit-b. */
async function doneRun(api: Api, share = 60): Promise<string> {
  await api.importWorkflow(workflow(share))
  const run = await api.startRun('four-agents')
  await expect.poll(async () => (await api.run(run)).row.status).toBe('ended')
  return run
}

const table = (page: Page) => page.getByRole('region', { name: 'Agents of the rollback' })
const row = (page: Page, agent: string) => table(page).getByRole('row', { name: new RegExp(`^${agent} `) })

test.describe
  .serial('a rollback over several agents', () => {
    test('asks each agent first, shows who can, and proves what came back', async ({ page, api, house }) => {
      // Whatever tests before this one left there.
      writeFileSync(house.routerFile(), factoryConfig('edge-router-07', '203.0.113.7'))
      const before = stateOf(house, 'edge-router-07')
      const run = await doneRun(api)
      expect(stateOf(house, 'edge-router-07')).not.toBe(before)

      await page.goto(`/runs/${run}/rollback?node=weigh&scope=sub_dag`)
      await expect(page.getByRole('heading', { name: /^Restores 3 steps on 3 agents/ })).toBeVisible()
      await expect(table(page)).toContainText('Prepare 4 holders are asked first, and nothing changes')
      await expect(table(page)).toContainText('Execute last step first, not begun')
      await expect(row(page, 'edge-router-07')).toContainText('not asked yet')
      await expect(row(page, 'mailer')).toContainText('cannot undo')

      await hold(page, /^Restore 3 steps on 3 agents/)
      await expect(status(page)).toContainText(/taken back/i)
      await expect(table(page)).toContainText('Prepare 3 of 4 can, 1 cannot')
      await expect(table(page)).toContainText('Execute 4 of 4 steps, last step first')
      for (const agent of ['edge-router-07', 'dns-steering', 'classifier']) {
        await expect(row(page, agent)).toContainText('prepared')
        await expect(row(page, agent)).toContainText('restored')
      }
      await expect(row(page, 'edge-router-07')).toContainText('matches the seal')
      await expect(row(page, 'mailer')).toContainText(/cannot prepare\s*: it cannot be undone/)
      expect(stateOf(house, 'edge-router-07'), 'byte for byte').toBe(before)

      await test.step('each act opens its tokens, the agent’s own among them', async () => {
        const rollback = page.getByRole('complementary', { name: 'Rollback' })
        await rollback.getByRole('button', { name: 'signed by edge-router-07' }).click()
        const answer = page.getByRole('complementary', { name: 'Answer of edge-router-07' })
        await expect(answer).toContainText(labAgent('edge-router-07'))
        await expect(answer.getByRole('region', { name: 'Claims' })).toContainText('"exec_act"')
        await answer.getByRole('button', { name: 'Back to the rollback' }).click()
        await rollback
          .getByRole('button', { name: /^vote \d+$/ })
          .first()
          .click()
        await expect(page.getByRole('complementary', { name: /^Token \d+$/ })).toContainText('cannot prepare')
        await page.getByRole('button', { name: 'Back to the step' }).click()
      })
      const evidence = page.getByRole('region', { name: 'Evidence' })
      await expect(evidence).toContainText('1 state is as sealed, to the byte')
      await expect(evidence.getByRole('button', { name: 'Export incident…' })).toBeVisible()
      await isClean(page)
      await page.getByRole('button', { name: 'End the run' }).click()
    })

    test('stops for a person when one cannot prepare, and goes on without it', async ({
      page,
      api,
      house,
    }) => {
      const router = stateOf(house, 'edge-router-07')
      const run = await doneRun(api)
      const steering = stateOf(house, 'dns-steering')
      await make(house, page, 'dns-steering', 'errors')
      try {
        await page.goto(`/runs/${run}/rollback?node=weigh&scope=sub_dag`)
        await hold(page, /^Restore 3 steps on 3 agents/)
        await expect(table(page)).toContainText(/of 4 can/)
        // Half of a rollback's time passes before an agent that gives no answer counts as out of reach.
        const decision = page.getByRole('region', { name: 'Decision' })
        await expect(decision.getByRole('button', { name: 'Go on without dns-steering' })).toBeVisible()
        await expect(status(page)).toContainText('Waits for operator, since not all of it can be taken back')
        await expect(row(page, 'dns-steering')).toContainText(/cannot prepare\s*: it gave no answer in time/)
        await expect(decision).toContainText('2 steps of 3 are taken back')
        await expect(decision.getByRole('button', { name: 'Call it off' })).toBeVisible()
        await expect(decision.getByRole('button', { name: 'Hand it on' })).toBeVisible()
        expect(stateOf(house, 'edge-router-07'), 'nothing was changed').not.toBe(router)

        await test.step('the same question is in the inbox, and fits a phone', async () => {
          const asked = await api.openApproval(run)
          const inbox = await page.context().newPage()
          await inbox.setViewportSize({ width: 375, height: 812 })
          await inbox.goto(`/approvals?item=${asked?.id}`)
          await expect(inbox.getByRole('button', { name: 'Go on without dns-steering' })).toBeVisible()
          await isClean(inbox)
          await inbox.close()
        })
        await test.step('and the rollback fits one, too', async () => {
          const size = page.viewportSize()
          await page.setViewportSize({ width: 375, height: 812 })
          await expect(page.getByRole('button', { name: 'Go on without dns-steering' })).toBeVisible()
          await isClean(page)
          if (size) await page.setViewportSize(size)
        })

        // The question came up by itself: a key that was on its way to something else answers nothing.
        await page.keyboard.press('a')
        await expect(decision).toContainText('This question came up by itself.')
        const reason = page.getByRole('dialog')
        await expect(reason).toBeHidden()
        await page.keyboard.press('a')
        await reason.getByLabel(/^Reason/).fill('Steering is mended by hand')
        await reason.getByRole('button', { name: 'Go on without dns-steering' }).click()
        await expect(status(page)).toContainText(/taken back/i)
        await expect(page.getByRole('complementary', { name: 'Rollback' })).toContainText(
          'Steering is mended by hand',
        )
        await expect(row(page, 'edge-router-07')).toContainText('restored')
        expect(stateOf(house, 'edge-router-07')).toBe(router)
        expect(stateOf(house, 'dns-steering'), 'left as it is').toBe(steering)
      } finally {
        await make(house, page, 'dns-steering', 'none')
      }
    })

    test('takes back a step that looks wrong and what used it, and nothing else', async ({
      page,
      api,
      house,
    }) => {
      const steering = stateOf(house, 'dns-steering')
      const run = await doneRun(api, 35)
      expect(stateOf(house, 'dns-steering')).not.toBe(steering)
      const router = stateOf(house, 'edge-router-07')
      await page.goto(`/runs/${run}`)
      await graphNode(page, 'Weigh the transits').click()
      await expect(page.getByRole('button', { name: 'This looks wrong…' })).toBeVisible()
      await page.keyboard.press('w')
      const dialog = page.getByRole('dialog', { name: '“Weigh the transits” looks wrong' })
      await expect(dialog.getByRole('region', { name: 'What used it' })).toContainText(
        'Classify the traffic read what it gave',
      )
      await expect(dialog).not.toContainText('Move the traffic')
      const call = dialog.getByRole('button', { name: /^Call “Weigh the transits” wrong/ })
      await call.click()
      await expect(dialog.getByRole('alert')).toContainText('Say what is wrong')
      await isClean(page)
      await dialog.getByLabel(/^What is wrong/).fill('These are the weights of yesterday')
      await call.click()

      await expect(page.getByRole('radio', { name: /^This step and what used it/ })).toBeChecked()
      await expect(page.getByRole('heading', { name: /^Restores 2 steps on 2 agents/ })).toBeVisible()
      await isClean(page)
      await hold(page, /^Restore 2 steps on 2 agents/)
      await expect(status(page)).toContainText(/taken back/i)
      expect(stateOf(house, 'dns-steering'), 'as it was').toBe(steering)
      expect(stateOf(house, 'edge-router-07'), 'did not use it').toBe(router)
    })
  })
