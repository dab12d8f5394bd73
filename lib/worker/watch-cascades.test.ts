import { expect, it } from 'vitest'
import { mintUuid, runIdOf } from '@/lib/base/ids'
import { memoryStore } from '@/lib/store/memory'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { indexGraph } from '@/lib/workflow/graph-index'
import { RunBook, readJson } from './run-book'
import { Dice } from './simulation/dice'
import { signer } from './simulation/paper'
import { Schedule, settled } from './simulation/schedule'
import { jsonValue } from './values'
import { CascadeWatcher } from './watch-cascades'

const by = (name: string) => ({ kind: 'agent', config: { agent: `spiffe://test/${name}` } })

function house(graph: ReturnType<typeof graphOf>) {
  const schedule = new Schedule(new Dice(1), 1_700_000_000_000)
  const timer = schedule.timerOf({ name: 'bench', alive: true })
  const { ledger } = memoryStore(schedule)
  const index = indexGraph(graph)
  const faults: string[] = []
  const log = {
    info: () => undefined,
    warn: () => undefined,
    error: (_: object, said: string) => void faults.push(said),
  }
  const watcher = new CascadeWatcher({
    get book() {
      return book
    },
    ledger,
    log,
  })
  const book = new RunBook({
    ledger,
    signer,
    timer,
    mint: mintUuid,
    chance: () => 0,
    graphOf: async () => index,
    told: watcher.told,
  })
  return { book, ledger, faults }
}

const failure = {
  severity: 'error',
  errorType: 'action_failed',
  code: 'down',
  description: 'It is down',
  retriable: false,
} as const

it('siblings that fail together are a cascade of the run, with whom it reaches, and one question', async () => {
  const nodes = { a: by('router'), b: by('monitor'), c: by('classifier'), d: by('mailer'), e: by('desk') }
  const { book, ledger, faults } = house(graphOf(nodes, ['a>d', 'b>d', 'c>d', 'd>e']))
  const wid = mintUuid()
  const runId = runIdOf(wid)
  const version = jsonValue('version').hash
  const header = { runId, wid, version, workflowName: 'storm', startedBy: 'person:ada' }
  const start = {
    type: 'start',
    version,
    input: jsonValue({}).hash,
    by: 'person:ada',
    dryRun: false,
  } as const
  await book.execute(runId, start, { create: header })
  for (const node of ['a', 'b', 'c']) {
    const action = {
      hash: jsonValue(node).hash,
      consequence: 'read_only',
      target: node,
      sentence: node,
      reads: [],
    } as const
    await book.execute(runId, { type: 'begin', node, visit: 1, action: { ...action, reads: [] } })
  }
  for (const node of ['a', 'b', 'c'])
    await book.execute(runId, { type: 'failed', node, visit: 1, attempt: 1, failure })
  for (let turn = 0; turn < 20; turn++) await settled()
  const seen = await book.read(runId, (run) => ({
    cascades: run.cascades.map(({ pattern, affectedAgents, blastRadius, node }) => ({
      pattern,
      affectedAgents,
      blastRadius,
      node,
    })),
    asked: [...run.openApprovals].map((id) => run.approvals.get(id)?.kind),
  }))
  expect(seen.cascades).toMatchObject([{ pattern: 'breadth_first', affectedAgents: 5, node: 'a' }])
  expect(seen.asked).toEqual(['cascade'])
  expect(await readJson(ledger, seen.cascades[0]?.blastRadius ?? '')).toMatchObject({
    agents: ['router', 'monitor', 'classifier', 'mailer', 'desk'].map((name) => `spiffe://test/${name}`),
    count: 5,
  })
  expect(faults).toEqual([])
})
