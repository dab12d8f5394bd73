import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Diagnostic } from '@/lib/base/diagnostic'
import { markedPlan } from '../plan-mark'
import { type Browser, TestConsole } from '../testing/console'
import { getWorkflow, postWorkflow, validateWorkflow } from './workflows'

let house: TestConsole
let author: Browser
beforeAll(async () => {
  house = await TestConsole.open()
  author = await house.person('ada', 'author')
})
afterAll(() => house.close())

const router = 'spiffe://example.com/agent/router'
const workflow = {
  wf_id: 'reach',
  policy: { roots: [{ path: '/etc', access: 'read' }] },
  nodes: [
    { id: 'call', label: 'Call', agent: router },
    { id: 'read', label: 'Read', action: { type: 'read_file', path: '/etc/hosts' } },
    {
      id: 'probe',
      label: 'Probe',
      action: { type: 'http_request', method: 'GET', url: 'http://169.254.169.254/' },
    },
  ],
  edges: [],
}

/** Where the place is in the text as it is sent. */
const at = (what: string) => ({ line: 1, column: JSON.stringify(workflow).indexOf(JSON.stringify(what)) + 1 })

const unregistered = {
  severity: 'warning',
  code: 'atd_agent_unknown',
  path: '/nodes/0/agent',
  message: `Node "call" calls the agent "${router}", which is not registered in this installation, so the step will fail.`,
  mend: 'Have an administrator register it under Settings, Agents, or correct its id.',
  ...at(router),
}
const others = [
  { code: 'atd_path_outside_roots', path: '/policy/roots/0/path', ...at('/etc') },
  { code: 'atd_path_outside_roots', path: '/nodes/1/action/path', ...at('/etc/hosts') },
  { code: 'atd_target_private', path: '/nodes/2/action/url', ...at('http://169.254.169.254/') },
]
const told = [others[0], unregistered, others[1], others[2]]

it('warns of what this installation would refuse, each with its place, wherever the text is read', async () => {
  type Told = { diagnostics: Diagnostic[]; version: string }
  const validated = await author.ask<Told>(validateWorkflow, 'POST', { body: workflow })
  expect(validated.body.diagnostics).toMatchObject(told)
  const imported = await author.ask<Told>(postWorkflow, 'POST', { body: workflow })
  expect(imported.status).toBe(201)
  expect(imported.body.diagnostics).toMatchObject(told)

  const { version } = imported.body
  const known = { id: router, name: 'Router', baseUrl: 'http://127.0.0.1:7007', jwks: '{"keys":[]}' }
  await house.house.agents.put({ ...known, addedAt: 0, addedBy: 'person:ada' })
  const shown = await author.ask<Told>(getWorkflow, 'GET', { params: { version } })
  expect(shown.body.diagnostics).toMatchObject(others)
  await house.house.agents.remove(router, 1)
  const later = await author.ask<Told>(getWorkflow, 'GET', { params: { version } })
  expect(later.body.diagnostics).toMatchObject(told)
})

it.each([
  [
    { body: {} },
    /^This is not a workflow that can run: line 1, column 1: The descriptor has no "nodes"\. There are 3 more errors\.$/,
  ],
  [{}, /^This is not a workflow that can run: line 1, column 1: The text is empty\.$/],
])('refuses %j in whole sentences', async (asked, sentence) => {
  const refused = await author.ask<{ detail: string }>(postWorkflow, 'POST', asked)
  expect(refused.status).toBe(422)
  expect(refused.body.detail).toMatch(sentence)
})

it('takes no text that is marked as a plan, and says where that is approved', async () => {
  const imported = (text: string) =>
    postWorkflow(
      new Request('http://localhost/api/v1/workflows?filename=plan.toml', {
        method: 'POST',
        headers: { cookie: author.cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'text/plain' },
        body: text,
      }),
      { params: Promise.resolve({}) },
    )
  const text = `name = "planned"
start_nodes = [{ name = "main", source = "manual", entry_node = "end" }]
nodes = [{ id = "end", type = "terminate" }]
`
  const refused = await imported(markedPlan(text, 'p'.repeat(43)))
  expect(refused.status).toBe(409)
  expect(await refused.json()).toMatchObject({
    code: 'plan_not_approved',
    detail: expect.stringContaining('approve it where it was made (npx holdpoint run FILE'),
  })
  expect((await imported(text)).status).toBe(201)
})
