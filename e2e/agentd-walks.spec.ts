/*
 * agentd workflows as a user of agentd meets them here: a file with a loop and a call is imported, runs, waits for a
 * person, shows the way it took and the run inside it, and is taken back. And a goal becomes a plan that runs only once
 * somebody has approved that very plan.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import path from 'node:path'
import type { WorkflowRow } from '@/lib/view/workflow-wire'
import { Api } from './api'
import { freePorts, House } from './house'
import { isClean } from './is-clean'
import { becomeAdministrator, expect, graphNode, hold, makeApiToken, status, test } from './test'

const asText = { 'content-type': 'text/plain' }

/** Goes round while it is told to, then waits for a person, and lets another workflow write it down. */
const parent = `name = "drafts"
description = "Drafts, is read, and is written down by another workflow."

[[start_nodes]]
name = "main"
source = "manual"
entry_node = "draft"

[[nodes]]
id = "draft"
type = "template_render"
template = "About {{topic}}"
input_from = "trigger"

[[nodes]]
id = "once_more"
type = "condition"
expr = "trigger.again"

[[nodes]]
id = "first_look"
type = "pause_for_approval"
reason = "Read the draft before it is written down"

[[nodes]]
id = "keep"
type = "call"
workflow = "keep.toml"
input_from = "trigger"

[[edges]]
from = "draft"
to = "once_more"
[[edges]]
from = "once_more"
to = "draft"
when = "true"
max_iterations = 2
[[edges]]
from = "once_more"
to = "first_look"
when = "false"
[[edges]]
from = "first_look"
to = "keep"
`

const child = `name = "keep"

[policy.fs]
write = ["kept/**"]

[[start_nodes]]
name = "main"
source = "manual"
entry_node = "words"

[[nodes]]
id = "words"
type = "template_render"
template = "Kept: {{topic}}"
input_from = "trigger"

[[nodes]]
id = "where"
type = "template_render"
template = "kept/{{topic}}.md"
input_from = "trigger"

[[nodes]]
id = "write"
type = "write_file"
path_from = "where.rendered"
content_from = "words.rendered"

[[edges]]
from = "words"
to = "where"
[[edges]]
from = "where"
to = "write"
`

test.describe('an agentd workflow', () => {
  test('is held, goes on in a run inside it, and is taken back', async ({ page, api, house }) => {
    const kept = path.join(house.data, 'files/kept/peering.md')
    await api.must(api.send('POST', '/api/v1/workflows?filename=keep.toml', child, asText))
    await api.must(api.send('POST', '/api/v1/workflows?filename=drafts.toml', parent, asText))

    await test.step('its form asks for what its steps read', async () => {
      await page.goto('/workflows')
      await page.getByRole('link', { name: 'Run drafts…' }).click()
      await expect(page.getByRole('textbox', { name: 'Topic' })).toBeVisible()
      await page.getByRole('radio', { name: 'JSON' }).click()
      await page.getByRole('textbox', { name: 'Input, as JSON' }).fill('{"topic": "peering", "again": false}')
      await page.getByRole('button', { name: 'Run drafts' }).click()
    })

    await test.step('it waits for a person, and says so', async () => {
      await expect(status(page)).toContainText('waiting for operator')
      const inspector = page.getByRole('complementary', { name: 'first_look' })
      await expect(inspector).toContainText('Read the draft')
      await expect(graphNode(page, 'keep')).toHaveAccessibleName(/not reached/)
      await isClean(page)
      await inspector.getByRole('button', { name: /^Approve/ }).click()
      await expect(status(page)).toContainText('completed at keep')
      expect(readFileSync(kept, 'utf8')).toBe('Kept: peering')
    })

    await test.step('the run inside is drawn with it, and leads there and back', async () => {
      await expect(graphNode(page, 'keep')).toHaveAccessibleName(/1 run done/)
      await graphNode(page, 'keep').click()
      const inside = page.getByRole('region', { name: 'Run inside keep' })
      await expect(inside).toContainText('completed at write')
      await expect(inside.getByRole('button', { name: /^write: done/ })).toBeVisible()
      await isClean(page)
      await inside.getByRole('link', { name: 'Open the run' }).click()
      await expect(page.getByRole('heading', { name: 'keep', level: 1 })).toBeVisible()
      await isClean(page)
      const above = page.getByRole('navigation', { name: 'Run that began this one' })
      await above.getByRole('link', { name: 'keep' }).click()
      await expect(page.getByRole('heading', { name: 'drafts', level: 1 })).toBeVisible()
    })

    await test.step('rolling back takes the inner run back as well', async () => {
      const inspector = page.getByRole('complementary', { name: 'keep' })
      await inspector.getByRole('link', { name: 'Roll back to before this' }).click()
      await expect(page.getByText('Rolls back the run it began')).toBeVisible()
      await isClean(page)
      await hold(page, /^Restore 1 step/)
      await expect(status(page)).toContainText(/taken back/i)
      expect(existsSync(kept)).toBe(false)
      await page.getByRole('button', { name: 'Go on from before keep' }).click()
      // The words are those of before the rollback; the visit is not.
      await expect(graphNode(page, 'keep')).toHaveAccessibleName(/done, visit 2/)
      await expect(status(page)).toContainText('completed at keep')
      expect(readFileSync(kept, 'utf8')).toBe('Kept: peering')
    })
  })

  test('counts a loop on its edge, and each visit can be looked at', async ({ page, api }) => {
    await api.must(api.send('POST', '/api/v1/workflows?filename=drafts.toml', parent, asText))
    const run = await api.startRun('drafts', { topic: 'loops', again: true })
    await page.goto(`/runs/${run}`)
    await expect(status(page)).toContainText('completed at once_more')
    await expect(page.getByText('true, 2 of 2')).toBeVisible()
    await expect(graphNode(page, 'draft')).toHaveAccessibleName(/visit 3/)
    await expect(graphNode(page, 'keep')).toHaveAccessibleName(/not reached/)
    await graphNode(page, 'draft').click()
    await page.getByRole('combobox', { name: 'Visit' }).selectOption('1')
    await page.getByRole('tab', { name: 'Output' }).click()
    await expect(page.getByRole('region', { name: 'Text of the output' })).toContainText('About loops')
    await isClean(page)
  })

  test('says what it declares, and what is served later', async ({ page, api }) => {
    const text = `${parent.replace('name = "drafts"', 'name = "declares"')}
[budget]
max_run_time_secs = 120

[auth.hmac.alerts]
secret = "hunter2"

[[start_nodes]]
name = "on_alert"
source = "http"
entry_node = "draft"

[[http_routes]]
method = "POST"
path = "/alerts/fire"
start_node = "on_alert"
auth = "hmac:alerts"
`
    const { version } = await api.must(
      api.send<WorkflowRow>('POST', '/api/v1/workflows?filename=declares.toml', text, asText),
    )
    await page.goto(`/workflows/${version}`)
    await expect(page.getByRole('region', { name: 'Declared' })).toContainText('2 m')
    const later = page.getByRole('region', { name: 'Served later' })
    await expect(later).toContainText('POST /alerts/fire')
    await expect(later).toContainText('written in the file')
    await expect(later).not.toContainText('hunter2')
    await isClean(page)
    await page.getByRole('link', { name: 'Run…' }).click()
    await page.getByRole('combobox', { name: 'Start' }).selectOption('on_alert')
    await expect(page.getByText('Begins at draft, as a request would.')).toBeVisible()
    await isClean(page)
  })
})

const planOfNote = `name = "note-of-today"
[[start_nodes]]
name = "main"
source = "manual"
entry_node = "agree"
[[nodes]]
id = "agree"
type = "pause_for_approval"
reason = "Read the note"
[[nodes]]
id = "end"
type = "terminate"
[[edges]]
from = "agree"
to = "end"
`

/** Answers as a model would: first with what no plan may say, then with a plan; of what is hopeless, never with one. */
function modelServer(port: number): Promise<Server> {
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const isSecond = body.includes('was refused')
      const content = isSecond && !body.includes('hopeless') ? planOfNote : '[policy.fs]\nwrite = ["/**"]\n'
      const message = { role: 'assistant', content }
      const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 }
      const choices = [{ index: 0, finish_reason: 'stop', message }]
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify({ id: 'x', object: 'chat.completion', created: 1, model: 'stub', choices, usage }),
      )
    })
  })
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)))
}

test.describe
  .serial('a goal', () => {
    const house = new House()
    let model: Server
    test.beforeAll(async () => {
      const port = await freePorts(1)
      model = await modelServer(port)
      const stub = { name: 'default', provider: 'openai-compatible', model: 'stub' }
      const backends = [{ ...stub, base_url: `http://127.0.0.1:${port}/v1` }]
      house.prepare((data) => writeFileSync(path.join(data, 'models.json'), JSON.stringify({ backends })))
      await house.start()
    })
    test.afterAll(async () => {
      await house.remove()
      model?.close()
    })
    test.use({ baseURL: ({ baseURL: _shared }, use) => use(house.origin), storageState: undefined })

    test('becomes a plan, which runs only once it is approved', async ({ page, context }) => {
      await becomeAdministrator(page, house)
      await page.goto('/workflows')
      await page.getByRole('link', { name: 'Plan from a goal' }).click()

      await test.step('what cannot be planned is said, with the last answer', async () => {
        await page.getByRole('textbox', { name: 'Goal' }).fill('Something hopeless')
        await page.getByRole('button', { name: 'Plan a workflow' }).click()
        await expect(page.getByRole('heading', { name: /No plan came of it: 3 answers/ })).toBeVisible()
        await isClean(page)
      })

      await test.step('a plan is drawn, with its hash, and cannot be started yet', async () => {
        await page.getByRole('textbox', { name: 'Goal' }).fill('Have a note read')
        await page.getByRole('button', { name: 'Plan a workflow' }).click()
        const words = '2 steps: none changes anything outside, 1 waits for a person.'
        await expect(page.getByRole('heading', { name: words })).toBeVisible()
        await expect(graphNode(page, 'agree')).toBeVisible()
        await expect(page.getByText('2 answers of the model')).toBeVisible()
        await isClean(page)
        const version = new URL(page.url()).searchParams.get('version') ?? ''
        const api = new Api(house.origin, await makeApiToken(context, house))
        const refused = await api.post<{ code: string; detail: string }>('/api/v1/runs', {
          workflow: version,
        })
        expect(refused.status).toBe(409)
        expect(refused.body.code).toBe('plan_not_approved')
        expect(refused.body.detail).toContain('nobody has approved')
      })

      await test.step('approving that very plan opens its start page', async () => {
        await page.getByRole('button', { name: 'Approve this plan' }).click()
        await page.getByRole('button', { name: 'Run note-of-today' }).click()
        await expect(status(page)).toContainText('waiting for operator')
      })
    })
  })
