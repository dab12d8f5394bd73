import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { mintUuid, type RunId, runIdOf } from '@/lib/base/ids'
import type { ParentPlace } from '@/lib/engine/ports'
import type { ReachingStep } from '@/lib/worker/ports'
import { jsonValue } from '@/lib/worker/values'
import { Budgets, type Currency } from './budgets'
import type { Installation } from './installation'
import { createLog } from './log'
import { openInstallation } from './open-installation'
import { importWorkflow } from './workflows'

describe('a budget', () => {
  let dir: string
  let house: Installation

  beforeEach(async () => {
    dir = fs.mkdtempSync(path.join(os.tmpdir(), 'holdpoint-'))
    house = await openInstallation({ dataDir: dir, origin: 'http://localhost:3999', log: createLog('error') })
  })
  afterEach(async () => {
    await house.close()
    fs.rmSync(dir, { recursive: true, force: true })
  })

  async function versionOf(name: string, budget: string): Promise<string> {
    const text = `name = "${name}"
[budget]
${budget}
[[start_nodes]]
name = "main"
source = "manual"
entry_node = "go"
[[nodes]]
id = "go"
type = "template_render"
template = "Hello"
input_from = "trigger"
`
    return (await importWorkflow(house, text, { by: 'person:ada' })).record.version
  }

  /** The step `go` of a run of that version. */
  async function begin(version: string, parent?: ParentPlace): Promise<ReachingStep> {
    const wid = mintUuid()
    const runId = runIdOf(wid)
    const input = jsonValue({})
    await house.book.execute(
      runId,
      { type: 'start', version, input: input.hash, by: 'person:ada', dryRun: false },
      {
        create: { runId, wid, version, workflowName: 'bench', startedBy: 'person:ada', parent },
        values: [input],
      },
    )
    const never = new AbortController().signal
    const about = { node: 'go', visit: 1, attempt: 1, signal: never, follows: [] as string[] }
    return house.book.read(runId, ({ graph, start }, header) => ({
      ...about,
      run: { graph, start },
      header,
      draining: never,
      lost: never,
    }))
  }

  const below = (runId: RunId, index: number): ParentPlace => ({ runId, node: 'go', visit: 1, index })
  const purse = (budgets: Budgets, step: ReachingStep, currency: Currency = 'modelTokens') =>
    budgets.purseOf(house, step, currency)

  it('is shared by the child runs of a run, side by side', async () => {
    const limited = await versionOf('limited', 'max_llm_tokens = 100')
    const free = await versionOf('free', '')
    const parent = await begin(limited)
    const [one, two] = [
      await begin(free, below(parent.header.runId, 0)),
      await begin(free, below(parent.header.runId, 1)),
    ]
    const budgets = new Budgets()
    await Promise.all([purse(budgets, one)(40), purse(budgets, two)(50)])
    const refused = purse(budgets, two)(20)
    await expect(refused).rejects.toMatchObject({
      code: 'budget_exhausted',
      message: 'The run may spend 100 model tokens (max_llm_tokens) and has spent 110',
    })
    await expect(purse(budgets, one)(0)).rejects.toMatchObject({ code: 'budget_exhausted' })
    await expect(purse(budgets, parent)(0)).rejects.toMatchObject({ code: 'budget_exhausted' })
  })

  it('of a child binds that child alone, however deep it stands', async () => {
    const free = await versionOf('free', '')
    const limited = await versionOf('limited', 'max_llm_tokens = 10')
    const parent = await begin(free)
    const child = await begin(limited, below(parent.header.runId, 0))
    const grandchild = await begin(free, below(child.header.runId, 0))
    const budgets = new Budgets()
    await expect(purse(budgets, grandchild)(11)).rejects.toMatchObject({ code: 'budget_exhausted' })
    await expect(purse(budgets, parent)(1_000_000)).resolves.toBeUndefined()
  })

  it('does not count bytes that it refused, in no run above either', async () => {
    const wide = await versionOf('wide', 'max_fs_write_mb = 2')
    const narrow = await versionOf('narrow', 'max_fs_write_mb = 1')
    const parent = await begin(wide)
    const child = await begin(narrow, below(parent.header.runId, 0))
    const budgets = new Budgets()
    const mb = 1024 * 1024
    await expect(purse(budgets, child, 'writtenBytes')(mb + 1)).rejects.toMatchObject({
      message: `The run may write ${mb} bytes to files (max_fs_write_mb), and this would make it ${mb + 1}`,
    })
    await expect(purse(budgets, child, 'writtenBytes')(mb)).resolves.toBeUndefined()
    await expect(purse(budgets, parent, 'writtenBytes')(mb)).resolves.toBeUndefined()
    await expect(purse(budgets, parent, 'writtenBytes')(1)).rejects.toMatchObject({
      code: 'budget_exhausted',
    })
  })
})
