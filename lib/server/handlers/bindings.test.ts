import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Diagnostic } from '@/lib/base/diagnostic'
import type { WorkflowDetail } from '@/lib/view/workflow-wire'
import { type Browser, TestConsole } from '../testing/console'
import { importWorkflow } from '../workflows'
import { listRuns, postRun } from './runs'
import { postBinding } from './workflows'

const pack = `# ours
id: bound-pack
name: Bound pack
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  one: { id: one, name: One, version: 1.0.0, system_template: "Work.", tools: [look_up] }
tools:
  look_up: { name: look_up, description: Looks, parameters: { type: object, properties: { what: { type: string } } } }
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: one, terminal: true, artifacts: { found: { type: text/plain } } }
`

interface Answer extends WorkflowDetail {
  code?: string
  detail?: string
  tools?: unknown
  newest?: string
}

let at: TestConsole
let author: Browser
let version: string
beforeAll(async () => {
  at = await TestConsole.open()
  author = await at.person('ada', 'author')
  const imported = await importWorkflow(at.house, pack, { filename: 'bound.yaml', by: 'person:ada' })
  version = imported.record.version
})
afterAll(() => at.close())

const bind = (body: object, who = author, of = version) =>
  who.ask<Answer>(postBinding, 'POST', { params: { version: of }, body: { tool: 'look_up', ...body } })
const shell = {
  kind: 'shell_run',
  config: { command: '/bin/echo', args: ['{{args.what}}'] },
  artifacts: { found: 'stdout' },
}

describe('a run of a pack whose tool nothing runs', () => {
  it('is refused before it begins, naming the tool, its states and how to bind it', async () => {
    const { status, body } = await author.ask<Answer>(postRun, 'POST', { body: { workflow: 'bound-pack' } })
    expect(status).toBe(422)
    expect(body.code).toBe('tool_unbound')
    expect(body.detail).toContain('The tool "look_up" (used by work) is bound to nothing')
    expect(body.detail).toContain('workflow.engine.bindings')
    expect(body.tools).toEqual([{ tool: 'look_up', states: ['work'] }])
    const dry = await author.ask<Answer>(postRun, 'POST', { body: { workflow: 'bound-pack', dry_run: true } })
    expect(dry.body.code).toBe('tool_unbound')
    expect((await author.ask<{ items: unknown[] }>(listRuns, 'GET')).body.items).toEqual([])
  })
})

describe('binding a tool', () => {
  it('is for authors', async () => {
    const refused = await bind({ binding: shell }, await at.person('vera', 'viewer'))
    expect(refused.status).toBe(403)
    expect(refused.body.code).toBe('role_missing')
  })

  it('refuses what cannot run it, in the diagnostics of the text, and stores nothing', async () => {
    const bad = await bind({ binding: { kind: 'shell_run', config: { command: 'echo', shell: true } } })
    expect(bad.status).toBe(422)
    expect(bad.body.code).toBe('workflow_invalid')
    const said = bad.body.diagnostics.filter(({ severity }: Diagnostic) => severity === 'error')
    expect(said.map(({ path }) => path)).toContain('/workflow/engine/bindings/look_up/shell_run/command')
    const nothing = await bind({ binding: { kind: 'prompt_state', config: {} } })
    expect(nothing.body.code).toBe('workflow_invalid')
    expect((await at.house.store.workflows.versions('bound-pack')).length).toBe(1)
    const ghost = await bind({ tool: 'ghost', binding: shell })
    expect(ghost.body).toMatchObject({ code: 'bad_request' })
    expect(ghost.body.detail).toContain('declares no tool "ghost"; there are: look_up')
  })

  it('makes a new version of the pack’s text, from which runs begin', async () => {
    const { status, body } = await bind({ binding: shell, newest: version })
    expect(status).toBe(201)
    expect(body.version).not.toBe(version)
    expect(body.source.startsWith('# ours\nid: bound-pack\n')).toBe(true)
    expect(body.graph.tools?.[0]?.binding).toEqual(shell)
    const again = await bind({ binding: shell }, author, version)
    expect(again.status).toBe(200)
    expect(again.body.version).toBe(body.version)
    const run = await author.ask(postRun, 'POST', { body: { workflow: 'bound-pack' } })
    expect(run.status).toBe(201)
  })

  it('refuses to go over a newer version that somebody imported meanwhile', async () => {
    const late = await bind({ binding: null, newest: version })
    expect(late.status).toBe(409)
    expect(late.body.code).toBe('workflow_changed')
    expect(late.body.detail).toContain('imported a newer version of "bound-pack" meanwhile')
    expect(late.body.newest).not.toBe(version)
  })
})
