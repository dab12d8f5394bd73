/*
 * A PromptPack as its author and the person on call meet it: a tool that nothing runs is found before a run begins, and
 * bound in the console; the pack waits for somebody to say what happened; the first event holds, whoever comes second is
 * told; and what the model was told, said and wrote can be read on the run's page.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Page } from '@playwright/test'
import type { RunRow } from '@/lib/view/run-wire'
import { Api } from './api'
import { House } from './house'
import { isClean } from './is-clean'
import { becomeAdministrator, expect, graphNode, makeApiToken, status, test } from './test'

/** Proposes until somebody approves, twice at most; its one tool is bound to nothing. */
const pack = `# Looks a service up and proposes a fix.
id: careful-fix
name: Careful fix
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  proposer:
    id: proposer
    name: Proposer
    version: 1.0.0
    system_template: |
      You propose a fix for {{alert}}.
      Who looked before said: {{artifacts.note}}
    tools: [look_up]
    variables:
      - { name: alert, type: string, required: true }
  closer: { id: closer, name: Closer, version: 1.0.0, system_template: "You sum up {{artifacts.fix}}." }
tools:
  look_up: # the service, not the weather
    name: look_up
    description: Looks a service up
    parameters:
      type: object
      properties: { service: { type: string } }
      required: [service]
workflow:
  version: 2
  entry: propose
  engine:
    budget: { max_total_visits: 12 }
    backends:
      - { name: default, provider: scripted, path: answers.json }
    policy:
      shell: { commands: [/bin/echo, /usr/bin/echo] }
  states:
    propose:
      prompt_task: proposer
      max_visits: 2
      on_max_visits: close
      artifacts:
        fix: { type: application/json, description: The fix as an action }
        found: { type: text/plain }
      on_event: { FixProposed: await_approval }
    await_approval:
      prompt_task: proposer
      description: May the proposed fix be applied?
      orchestration: external
      artifacts:
        note: { type: text/plain, mode: append, description: What was seen }
      on_event: { Approved: close, Rejected: propose }
    close: { prompt_task: closer, terminal: true }
`

const calls = (...tool_calls: { name: string; args: object }[]) => ({ tool_calls })
const answers = {
  when: [
    {
      system: 'You propose a fix',
      repeat: true,
      answers: [
        calls({ name: 'look_up', args: { service: 'orders-db' } }),
        calls(
          { name: 'workflow__set_artifact', args: { name: 'fix', value: { restart: 'orders-db' } } },
          { name: 'workflow__transition', args: { event: 'FixProposed' } },
        ),
      ],
    },
    { system: 'You sum up', repeat: true, answers: ['orders-db was restarted.'] },
  ],
}

test.describe
  .serial('a pack', () => {
    const house = new House()
    let api: Api
    let page: Page
    test.beforeAll(async ({ browser }) => {
      house.prepare((data) => writeFileSync(path.join(data, 'answers.json'), JSON.stringify(answers)))
      await house.start({ env: { HOLDPOINT_AUTHORED: house.data } })
      const context = await browser.newContext({
        baseURL: house.origin,
        storageState: { cookies: [], origins: [] },
      })
      page = await context.newPage()
      await becomeAdministrator(page, house)
      api = new Api(house.origin, await makeApiToken(context, house))
    })
    test.afterAll(() => house.remove())

    const tools = () => page.getByRole('region', { name: 'Tools' })
    const start = () =>
      api.post<RunRow & { code?: string; detail?: string }>('/api/v1/runs', {
        workflow: 'careful-fix',
        input: { alert: 'slow orders' },
      })

    test('begins no run while a tool is bound to nothing, and says which', async () => {
      await page.goto('/workflows/import')
      await page.getByRole('textbox', { name: 'Text of the workflow' }).fill(pack)
      await expect(page.getByText('PromptPack', { exact: true })).toBeVisible()
      await page.getByRole('button', { name: 'Import careful-fix' }).click()
      await expect(tools()).toContainText('1 tool is bound to nothing. No run can begin before it is.')
      await expect(tools()).toContainText('look_up nothing yet')
      await expect(tools()).toContainText('Used by propose.')
      await isClean(page)
      await page.getByRole('link', { name: 'Run…' }).click()
      await expect(page.getByRole('note')).toContainText(
        'The tool “look_up” (used by propose) is bound to nothing.',
      )
      await expect(page.getByRole('button', { name: 'Run careful-fix' })).toBeDisabled()
      const refused = await start()
      expect(refused.status).toBe(422)
      expect(refused.body.code).toBe('tool_unbound')
      expect(refused.body.detail).toContain('The tool "look_up" (used by propose) is bound to nothing')
      await page.getByRole('link', { name: 'Bind its tools' }).click()
    })

    test('is bound in the console, and its text keeps every other line', async () => {
      await tools().getByRole('button', { name: 'Bind look_up…' }).click()
      const dialog = page.getByRole('dialog', { name: 'Bind “look_up”' })
      await expect(dialog).toContainText('{{args.service}}')
      await dialog.getByRole('combobox', { name: 'What does the work' }).selectOption('A command')
      await dialog.getByRole('button', { name: 'Save as a new version' }).click()
      await expect(dialog.getByRole('alert')).toContainText('Command is needed.')
      await dialog.getByRole('textbox', { name: 'Command' }).fill('/bin/echo')
      await dialog.getByRole('textbox', { name: /^Arguments/ }).fill('{{args.service}}\nis slow')
      await dialog.getByRole('checkbox', { name: 'found' }).check()
      await dialog.getByRole('textbox', { name: 'Part of the result that fills found' }).fill('stdout')
      await isClean(page)
      await dialog.getByRole('button', { name: 'Save as a new version' }).click()
      await expect(tools()).toContainText('look_up runs /bin/echo {{args.service}} is slow')
      await expect(tools()).toContainText('Fills found from stdout.')
      const version = new URL(page.url()).pathname.split('/').at(-1)
      const { text } = await exported(api, version ?? '')
      const added = text.split('\n').filter((line) => !pack.split('\n').includes(line))
      expect(added.map((line) => line.trim())).toEqual([
        'bindings:',
        'look_up:',
        'shell_run:',
        'command: /bin/echo',
        'args:',
        '- "{{args.service}}"',
        '- is slow',
        'artifacts:',
        'found: stdout',
      ])
      expect(pack.split('\n').every((line) => text.includes(line))).toBe(true)
    })

    test('waits for an event: one button each, by its number, and where it leads', async () => {
      const { body } = await start()
      await page.goto('/approvals')
      const decision = page.getByRole('region', { name: 'Decision' })
      await expect(decision.getByRole('heading', { name: 'May the proposed fix be applied?' })).toBeVisible()
      await expect(decision.getByRole('button', { name: 'Approved, leads to close' })).toBeVisible()
      await expect(decision).toContainText('"restart": "orders-db"')
      await isClean(page)
      await decision.getByRole('button', { name: 'Write “note” along with it…' }).click()
      // Whoever writes is not deciding: 2 goes into the field.
      await decision.getByRole('textbox', { name: 'note' }).fill('2 of 3 replicas were down')
      await expect(decision.getByRole('button', { name: 'Rejected, leads to propose' })).toBeVisible()
      await page.keyboard.press('Escape')
      await page.keyboard.press('2')
      await expect(page.getByText('Gave “Rejected” to “await_approval”')).toBeVisible()
      await page.goto(`/runs/${body.id}?node=await_approval&visit=1`)
      const first = page.getByRole('complementary', { name: 'await_approval' })
      await expect(first).toContainText('gave “Rejected”')
      await first.getByRole('button', { name: /note 1 added/ }).click()
      await expect(first).toContainText('2 of 3 replicas were down')
      await isClean(page)
    })

    test('tells whoever comes second who gave which event', async () => {
      const { body } = await start()
      await api.held(body.id)
      await page.goto('/approvals')
      const row = page.getByRole('link', { name: new RegExp(body.id.slice(-4)) })
      await row.click()
      const decision = page.getByRole('region', { name: 'Decision' })
      const approved = decision.getByRole('button', { name: 'Approved, leads to close' })
      await expect(approved).toBeVisible()
      // This page hears nothing of the other one until it asks.
      await page.route('**/api/v1/stream**', (route) => route.abort())
      await page.route('**/api/v1/approvals/*', (route) =>
        route.request().method() === 'GET' ? route.abort() : route.continue(),
      )
      await api.must(
        api.post(`/api/v1/runs/${body.id}/events`, { event: 'Rejected', comment: 'Not at noon' }),
      )
      await page.unroute('**/api/v1/approvals/*')
      await approved.click()
      await expect(decision.getByRole('alert')).toContainText(
        /Your event was not taken: .* gave “Rejected” to this step/,
      )
      await expect(decision).toContainText('Not at noon')
      await isClean(page)
      await page.unroute('**/api/v1/stream**')
    })

    test('sends the walk on where a state was entered as often as it may be', async () => {
      const { body } = await start()
      for (let visit = 0; visit < 2; visit++) {
        await api.held(body.id)
        await api.must(api.post(`/api/v1/runs/${body.id}/events`, { event: 'Rejected' }))
      }
      await page.goto(`/runs/${body.id}?node=close`)
      await expect(status(page)).toContainText('completed at close')
      const close = page.getByRole('complementary', { name: 'close' })
      await expect(close).toContainText('Because propose was entered 2 of 2 times.')
      await graphNode(page, 'propose').click()
      const propose = page.getByRole('complementary', { name: 'propose' })
      await expect(propose).toContainText('Visit 2 of 2.')
      await expect(propose).toContainText('FixProposed, by its own prompt proposer')
      const talk = propose.getByRole('list', { name: 'Transcript' })
      await expect(talk).toContainText(/Calls\s*look_up/)
      await expect(talk).toContainText('orders-db is slow')
      await expect(propose).toContainText('You propose a fix for slow orders.')
      await expect(propose).toContainText('Ended with FixProposed')
      await expect(propose.getByRole('button', { name: /^fix written again, the same/ })).toBeVisible()
      await isClean(page)
    })

    test('refuses an event that is none of its state, and names those there are', async () => {
      const { body } = await start()
      await api.held(body.id)
      const refused = await api.post<{ detail: string; events: string[] }>(`/api/v1/runs/${body.id}/events`, {
        event: 'Perhaps',
      })
      expect(refused.status).toBe(400)
      expect(refused.body.detail).toBe('"Perhaps" is no event of await_approval; give Approved or Rejected.')
      expect(refused.body.events).toEqual(['Approved', 'Rejected'])
    })
  })

async function exported(api: Api, version: string): Promise<{ text: string }> {
  const answer = await fetch(`${api.origin}/api/v1/workflows/${version}/export`, {
    headers: { authorization: `Bearer ${api.token}` },
  })
  return { text: await answer.text() }
}
