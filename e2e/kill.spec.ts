/*
 * `kill -9` at bad moments, and a start on the same data. What was acknowledged is there, what was under way goes on, and
 * a page that stayed open picks up where it was.
 */
import { readFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import type { RollbackPlanView, RollbackView } from '@/lib/view/rollback-wire'
import { Api } from './api'
import { ada, House } from './house'
import { OutsideAgent } from './outside-agent'
import { becomeAdministrator, expect, makeApiToken, register, signIn, status, test } from './test'

test.describe
  .serial('killed in the middle', () => {
    const house = new House()
    let api: Api

    test.beforeAll(async ({ browser }) => {
      await house.start({ lab: true })
      const context = await browser.newContext({ storageState: undefined })
      await becomeAdministrator(await context.newPage(), house)
      api = new Api(house.origin, await makeApiToken(context, house))
      await context.close()
    })
    test.afterAll(() => house.remove())
    test.use({ baseURL: ({ baseURL: _shared }, use) => use(house.origin), storageState: undefined })

    test('while it waits for a person: the open page says so, comes back by itself, and decides', async ({
      page,
    }) => {
      const before = readFileSync(house.routerFile())
      await signIn(page, house.origin, ada)
      await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
      const run = await api.startRun('bgp-failover-lab')
      await page.goto(`/runs/${run}`)
      await expect(status(page)).toContainText('waiting for operator')
      await mark(page)

      await house.kill()
      await expect(page.getByText('Connection lost.')).toBeVisible()
      await house.start({ lab: true })
      await expect(page.getByText('Connection lost.')).toBeHidden()
      await expect(status(page)).toContainText('waiting for operator')

      await page.getByRole('button', { name: /^Approve “Move traffic to transit-b”/ }).click()
      await expect(status(page)).toContainText('partly done at Check the flows')
      expect(readFileSync(house.routerFile()).equals(before)).toBe(false)
      expect(await isMarked(page), 'the page was never loaded again').toBe(true)
    })

    test('right after a decision was acknowledged: it is kept, and done once', async () => {
      const run = await api.startRun('config-note', {
        device: 'edge-router-07',
        change: 'Kept.',
        path: 'notes/kept.md',
      })
      const question = await api.held(run)
      const decided = await api.post(`/api/v1/approvals/${question.id}/decision`, {
        verdict: 'approve',
        action: question.action,
      })
      await house.kill()
      expect(decided.status).toBe(200)

      await house.start({ lab: true })
      await expect.poll(async () => (await api.run(run)).row.terminal).toBe('success')
      const card = await api.approval(question.id)
      expect(card.decision).toMatchObject({ verdict: 'approve', by: 'person:ada+token:tests' })
      expect(readFileSync(`${house.data}/files/notes/kept.md`, 'utf8')).toBe('# edge-router-07\n\nKept.\n')
      const acts = (await ledgerActs(api, run)).filter((act) => act === 'atd:checkpoint')
      expect(acts).toHaveLength(1)
    })

    test('in the middle of a rollback: the agent is asked again for the same, and it is over', async ({
      page,
    }) => {
      const agent = new OutsideAgent('slow-agent')
      await agent.listen()
      try {
        await signIn(page, house.origin, ada)
        await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
        await register(page.context(), house, agent)
        const node = 'change'
        await api.importWorkflow({
          wf_id: 'slow-change',
          nodes: [{ id: node, label: 'Change it', agent: agent.id, agent_config: { operation: 'change' } }],
          edges: [],
        })
        const run = await api.startRun('slow-change')
        await expect.poll(async () => (await api.run(run)).row.terminal).toBe('success')
        const plan = await api.must(
          api.post<RollbackPlanView>(`/api/v1/runs/${run}/rollback-plans`, { node }),
        )
        agent.keepsSilent = true
        const { scope, digest } = plan
        const asked = await api.post<RollbackView>(`/api/v1/runs/${run}/rollbacks`, { node, scope, digest })
        expect(asked.status).toBe(202)
        await page.goto(`/runs/${run}/rollback?node=${node}`)
        await expect(status(page)).toContainText('Rolling back')
        await expect.poll(() => agent.rollbacks.length).toBe(1)

        await house.kill()
        expect(agent.state).toBe('changed')
        agent.keepsSilent = false
        await house.start({ lab: true })
        await expect(status(page)).toContainText(/taken back/i)
        expect(agent.state).toBe('as it was')
        expect(agent.rollbacks.length).toBe(2)
        expect(agent.rollbacks[1]).toEqual(agent.rollbacks[0])
      } finally {
        await agent.stop()
      }
    })
  })

/** Leaves a trace in the page that a load would wipe out. */
function mark(page: Page): Promise<void> {
  return page.evaluate(() => {
    Object.assign(window, { stayed: true })
  })
}

function isMarked(page: Page): Promise<boolean> {
  return page.evaluate(() => 'stayed' in window)
}

/** What the tokens of a run say was done, in order. */
async function ledgerActs(api: Api, run: string): Promise<string[]> {
  const { body } = await api.get<{ rows: { token: string }[] }>(`/api/v1/runs/${run}/ledger`)
  return body.rows.map(({ token }) => {
    const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')
    return (JSON.parse(payload) as { exec_act: string }).exec_act
  })
}
