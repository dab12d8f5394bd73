import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ConfiguredBackend } from '@/lib/runners/models/models'
import { type ScriptedAnswer, ScriptPositions } from '@/lib/runners/models/scripted-backend'
import { versionOf } from '@/lib/workflow/versions'
import { type GoalPlan, planGoal } from './goal'
import type { Installation } from './installation'
import { createLog } from './log'
import { openInstallation } from './open-installation'

let dataDir: string
let house: Installation
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'hp-goal-'))
  const log = createLog('silent')
  house = await openInstallation({ dataDir, origin: 'http://localhost:3996', log })
})
afterAll(async () => {
  await house.close()
  await rm(dataDir, { recursive: true, force: true })
})

const good = `name = "file-note"
description = "Files a note"

[[start_nodes]]
name = "main"
source = "manual"
entry_node = "place"

[[nodes]]
id = "place"
type = "template_render"
template = "notes/{{name}}.txt"
input_from = "trigger"

[[nodes]]
id = "ask"
type = "pause_for_approval"

[[nodes]]
id = "write"
type = "write_file"
path_from = "place.rendered"
content_from = "trigger.text"

[[nodes]]
id = "run"
type = "shell_run"
command = "/usr/bin/sync"

[[edges]]
from = "place"
to = "ask"

[[edges]]
from = "ask"
to = "write"

[[edges]]
from = "write"
to = "run"
`

function planned(answers: ScriptedAnswer[], config?: string): Promise<GoalPlan> {
  const backend: ConfiguredBackend = { name: 'default', provider: 'scripted', script: { answers } }
  const reachable = { ...house.reachable, backends: [backend], scripts: new ScriptPositions() }
  const signal = new AbortController().signal
  return planGoal({ ...house, reachable }, { goal: 'File a note', signal, ...(config ? { config } : {}) })
}

describe('a plan for a goal', () => {
  it('is shown with what each step does to the world, and named by its hash', async () => {
    const plan = await planned([`Here it is:\n\`\`\`toml\n${good}\`\`\`\nGood luck!`])
    expect(plan.steps.map(({ id, consequence }) => `${id} ${consequence}`)).toEqual([
      'place read_only',
      'ask read_only',
      'write reversible',
      'run irreversible',
    ])
    expect(plan).toMatchObject({ attempts: 1, version: plan.graph && versionOf(plan.graph) })
    expect(await planned([good])).toMatchObject({ version: plan.version })
    expect((await planned([good.replace('sync', 'true')])).version).not.toBe(plan.version)
  })

  it('is allowed nothing of its own: without a configuration its policy names nothing', async () => {
    const { graph, text } = await planned([good])
    expect(text).toContain('[policy]')
    expect(graph?.policy.allow).toMatchObject({ fs: { read: [], write: [] }, shell: { commands: [] } })
  })

  it('gets policy, backends and budget from the configuration, and nothing else of it', async () => {
    const config = `name = "mine"
[policy.fs]
write = ["notes/**"]

[budget]
max_llm_tokens = 100

[[nodes]]
id = "not_mine"
type = "terminate"
`
    const { graph } = await planned([good], config)
    expect(graph).toMatchObject({
      name: 'file-note',
      policy: { allow: { fs: { write: ['notes/**'] } } },
      budget: { maxModelTokens: 100 },
    })
    expect(graph?.nodes).toHaveLength(4)
  })

  it.each([
    ['a policy', `${good}\n[policy.fs]\nwrite = ["/**"]\n`, '"policy" is not a plan’s to say'],
    ['a budget', `${good}\n[budget]\nmax_llm_tokens = 9\n`, '"budget" is not a plan’s to say'],
    [
      'a backend',
      `${good}\n[[intelligence.backends]]\nname = "x"\nprovider = "openai"\nmodel = "m"\n`,
      '"intelligence" is not',
    ],
    ['a secret', `${good}\n[[secrets]]\nname = "T"\nsource = "env"\nvar = "T"\n`, '"secrets" is not'],
    [
      'a secret in a header',
      good.replace(
        'command = "/usr/bin/sync"',
        'command = "/usr/bin/sync"\n\n[[nodes]]\nid = "post"\ntype = "http_request"\nmethod = "POST"\nurl_from = "trigger.url"\nheaders = { Authorization = "{{secret:T}}" }',
      ),
      'names no secrets',
    ],
    [
      'a model that nobody configured',
      good.replace('type = "pause_for_approval"', 'type = "llm_infer"\nbackend = "gpt"\nprompt = "?"'),
      'There is no model backend "gpt"',
    ],
    ['a node that does not exist', good.replace('shell_run', 'shell_exec'), 'shell_exec'],
    ['no TOML', 'I cannot do that.', 'The text is not TOML'],
  ])('with %s is refused, told back with its line, and planned again', async (_what, bad, words) => {
    const refused = await planned([bad, bad, bad])
    expect(refused).toMatchObject({ attempts: 3, steps: [] })
    expect(refused.graph).toBeUndefined()
    expect(
      refused.diagnostics
        .map(({ message }) => message)
        .join('\n')
        .replaceAll("'", '’'),
    ).toContain(words)
    expect(await planned([bad, good])).toMatchObject({ attempts: 2, graph: { name: 'file-note' } })
  })

  it('is asked of nobody when nobody can be asked', async () => {
    const signal = new AbortController().signal
    const wish = { goal: 'x', signal }
    await expect(planGoal(house, wish)).rejects.toMatchObject({
      code: 'bad_request',
      message: expect.stringContaining('models.json'),
    })
    await expect(planGoal(house, { ...wish, goal: ' ' })).rejects.toThrow('1 to 16384 characters')
  })

  it('says when the model is down', async () => {
    await expect(planned([{ fault: 'down' }])).rejects.toMatchObject({ code: 'backend_unreachable' })
  })
})
