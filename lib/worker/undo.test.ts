import { describe, expect, it } from 'vitest'
import { hashJson } from '@/lib/base/hash'
import { mintUuid, type RollbackId, type RunId, runIdOf } from '@/lib/base/ids'
import { isProblem } from '@/lib/base/problem'
import { parseClaims } from '@/lib/ect/claims'
import { unverifiedPayload } from '@/lib/ect/jws'
import { openQuestion } from '@/lib/engine/rollback-question'
import type { Rollback, Run } from '@/lib/engine/run'
import type { Verdict } from '@/lib/hitl/terms'
import type { Plan } from '@/lib/rollback/plan'
import { noReach } from '@/lib/runners/no-reach'
import { EffectFailed, type Prepared, type Runner, type Undone } from '@/lib/runners/runner'
import { memoryStore } from '@/lib/store/memory'
import { rollbackViewOf } from '@/lib/view/rollback-view'
import type { GraphNode, WorkflowGraph } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { indexGraph } from '@/lib/workflow/graph-index'
import { ChildWaits } from './child-waits'
import { executePlan } from './execute-plan'
import { makePlan, type PlanWish } from './plan'
import { openPlaces } from './pools'
import type { WorkerPorts } from './ports'
import { RunBook, readJson } from './run-book'
import { Dice } from './simulation/dice'
import { signer, vault } from './simulation/paper'
import { type Process, Schedule, settled } from './simulation/schedule'
import { jsonValue } from './values'
import { startWorker } from './worker'

const begins = 1_700_000_000_000
const agentId = (name: string) => `spiffe://example.com/agent/${name}`

/** What agents do with a rollback; by the node they did. Absent: they prepare and put back. */
interface Ways {
  prepare?: Record<string, () => Promise<Prepared> | Prepared>
  undo?: Record<string, () => Promise<Undone> | Undone>
  /** Agents that speak one phase only. */
  onePhase?: string[]
}

/*  plan ─▶ router ─▶ policy ─▶ monitor
 *            ╰─────▶ notify              */
const drawn = ['plan>router', 'router>policy', 'policy>monitor', 'router>notify']
const step = (agent: string, reads: string[], more: Partial<GraphNode> = {}): Partial<GraphNode> => ({
  kind: 'agent',
  config: { agent: agentId(agent), reads },
  ...more,
})
const steps = (more: Record<string, Partial<GraphNode>> = {}) => ({
  plan: { kind: 'pure', config: { reads: [] } },
  router: step('router', ['plan']),
  policy: step('policy', ['router']),
  monitor: step('monitor', []),
  notify: step('notify', ['router']),
  ...more,
})

/** A run of these steps by remote agents, on a clock that jumps from one thing to the next. */
class Field {
  readonly schedule = new Schedule(new Dice(1), begins)
  readonly store = memoryStore(this.schedule)
  readonly process: Process = { name: 'field', alive: true }
  readonly asked: string[] = []
  readonly runId: RunId
  readonly ports: WorkerPorts
  private readonly wid = mintUuid()

  constructor(
    private readonly ways: Ways = {},
    nodes: Record<string, Partial<GraphNode>> = steps(),
    more: Partial<WorkflowGraph> = {},
  ) {
    const graph = indexGraph(graphOf(nodes, drawn, more))
    const timer = this.schedule.timerOf(this.process)
    this.runId = runIdOf(this.wid)
    const { ledger, leases } = this.store
    const book = new RunBook({
      ledger,
      signer,
      timer,
      mint: mintUuid,
      chance: () => 0,
      graphOf: async () => graph,
    })
    this.ports = {
      ...{ book, ledger, leases, vault, signer, timer, mint: mintUuid },
      tokenHolds: async () => true,
      runnerOf: (kind) => this.runner(kind === 'agent'),
      agents: () => ({
        find: async (id) => ({ id, name: id, baseUrl: 'https://agent.example' }),
        requestToken: async () => '',
      }),
      reach: () => noReach,
      graphOf: async () => graph,
      childWaits: new ChildWaits(),
      pools: openPlaces,
      childrenOf: async () => [],
      installationRoots: [],
      rollbackUri: 'https://holdpoint.example/rollback',
      onAppend: (listener) => this.store.onAppend(listener),
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    } as WorkerPorts
  }

  /** Everything is done and a worker is there. */
  static async done(
    ways: Ways = {},
    nodes?: Record<string, Partial<GraphNode>>,
    more?: Partial<WorkflowGraph>,
  ): Promise<Field> {
    const field = new Field(ways, nodes, more)
    const version = jsonValue('version').hash
    await field.ports.book.execute(
      field.runId,
      { type: 'start', version, input: jsonValue({}).hash, by: 'person:ada', dryRun: false },
      {
        create: {
          ...{ runId: field.runId, wid: field.wid, version, workflowName: 'field', startedBy: 'person:ada' },
        },
      },
    )
    startWorker(field.ports, 'one')
    await field.until((run) => run.state.status === 'ended')
    return field
  }

  private runner(isAgent: boolean): Runner {
    const { asked, ways } = this
    const stateOf = (node: string): { agent: string; node: string } => ({ agent: agentId(node), node })
    const runner: Runner = {
      async resolve({ node, values }) {
        for (const read of node.config.reads as string[]) await values.at(read)
        return {}
      },
      describe: async (action, { node, visit }) => ({
        action: {
          ...{ kind: node.kind, node: node.id, visit, do: action, target: node.id },
          ...{ consequence: isAgent ? 'reversible' : 'read_only', sentence: `Does ${node.id}` },
        },
      }),
      perform: async () => ({ output: {} }),
    }
    if (!isAgent) return runner
    runner.snapshot = async ({ node }) => ({
      ...{ state: stateOf(node), hash: hashJson(stateOf(node)), undo: 'remote' as const },
    })
    runner.prepare = async ({ node }) => {
      if (ways.onePhase?.includes(node)) return undefined
      asked.push(`prepare ${node}`)
      return (await ways.prepare?.[node]?.()) ?? { vote: 'prepared', description: 'It can' }
    }
    runner.undo = async ({ node }, snapshot) => {
      asked.push(`undo ${node}`)
      const back = {
        ...{ stateHashAfter: snapshot.hash, description: 'It is back' },
        evidence: { agent: agentId(node), request: 'jti', token: `signed by ${node}` },
      }
      return (await ways.undo?.[node]?.()) ?? back
    }
    return runner
  }

  async until(holds: (run: Run) => boolean, forMs = 3600_000): Promise<void> {
    const until = this.schedule.now() + forMs
    for (;;) {
      await settled()
      if (await this.look(holds)) return
      if (this.schedule.now() > until || !this.schedule.next()) {
        throw new Error(`It never came to that: ${await this.look((run) => JSON.stringify(run.state))}`)
      }
    }
  }

  look<T>(look: (run: Run) => T): Promise<T> {
    return this.ports.book.read(this.runId, look)
  }

  async rollBack(
    wish: Omit<PlanWish, 'mayCoordinate'> & { node: string },
    by = 'person:ada',
  ): Promise<RollbackId> {
    const plan = await makePlan(this.ports, this.runId, { ...wish, mayCoordinate: true })
    if (plan.forbidden) throw new Error(plan.forbidden.sentence)
    const rollback: RollbackId = `rb_${mintUuid()}`
    await executePlan(this.ports, this.runId, plan, { by, reason: 'It went wrong', rollback })
    return rollback
  }

  /** The latest rollback has come to its result. */
  async over(): Promise<void> {
    await this.until((run) => [...run.rollbacks.values()].at(-1)?.status !== undefined)
  }

  async answer(verdict: Verdict, comment = ''): Promise<void> {
    const isAsked = (run: Run) =>
      [...run.rollbacks.values()].some((one) => openQuestion(run, one) !== undefined)
    await this.until(isAsked)
    const open = await this.look((run) =>
      [...run.rollbacks.values()].flatMap((one) => openQuestion(run, one) ?? []).at(-1),
    )
    if (!open) throw new Error('Nobody is asked')
    await this.ports.book.execute(this.runId, {
      ...{ type: 'decide', approval: open.id, verdict, by: 'person:bo', action: open.action, comment },
    })
  }

  rollback(id: RollbackId): Promise<Rollback> {
    return this.look((run) => structuredClone(run.rollbacks.get(id) as Rollback))
  }

  view(id: RollbackId) {
    return this.look((run) => rollbackViewOf(run, this.runId, run.rollbacks.get(id) as Rollback))
  }

  async statuses(id: RollbackId): Promise<Record<string, string | undefined>> {
    const { acts } = await this.rollback(id)
    return Object.fromEntries([...acts.values()].map(({ node, status }) => [node, status]))
  }
}

const cannot = (reason: Prepared['reason']) => (): Prepared => ({
  ...{ vote: 'cannot_prepare', reason, description: `It says ${reason}` },
})

describe('a rollback in two phases', () => {
  it('asks every holder, decides, and takes back at once what the graph allows', async () => {
    const field = await Field.done({ onePhase: ['notify'] })
    const id = await field.rollBack({ node: 'router', scope: 'sub_dag' })
    await field.over()
    const { votes, decided, status } = await field.rollback(id)
    expect(status).toBe('completed')
    expect(decided).toMatchObject({ decision: 'execute', by: 'engine', withoutCount: 0 })
    expect([...votes.values()].map(({ node, vote, how }) => `${node} ${vote} ${how}`).sort()).toEqual([
      'monitor prepared asked',
      'notify prepared derived',
      'policy prepared asked',
      'router prepared asked',
    ])
    const undos = field.asked.filter((what) => what.startsWith('undo'))
    expect(new Set(undos.slice(0, 2))).toEqual(new Set(['undo monitor', 'undo notify']))
    expect(undos.slice(2)).toEqual(['undo policy', 'undo router'])
    const view = await field.view(id)
    expect(view).toMatchObject({ phase: 'over', status: 'completed' })
    const act = view.acts.find(({ node }) => node === 'router')
    expect(await readJson(field.ports.ledger, act?.evidence ?? '')).toEqual({
      ...{ agent: agentId('router'), request: 'jti', token: 'signed by router' },
    })
  })

  it('asks a person when one cannot prepare, and does nothing until then', async () => {
    const field = await Field.done({ prepare: { policy: cannot('expired') } })
    const id = await field.rollBack({ node: 'router', scope: 'sub_dag' })
    await field.until((run) => run.openApprovals.size > 0)
    expect(await field.view(id)).toMatchObject({
      phase: 'asking',
      question: {
        kind: 'rollback_unprepared',
        sentence:
          '"policy" cannot be taken back: its checkpoint has expired; 3 other steps can be taken back without. What policy did rests on steps that would be undone.',
      },
    })
    expect(field.asked.filter((what) => what.startsWith('undo'))).toEqual([])
    // However long it takes: no time passes for the rollback.
    field.schedule.at(field.schedule.now() + 3600_000, 'an hour', () => undefined)
    await field.until(() => field.schedule.now() > begins + 3600_000)
    await field.answer('go_on_without')
    await field.over()
    expect(await field.statuses(id)).toEqual({
      ...{ monitor: 'completed', notify: 'completed', policy: 'escalated', router: 'completed' },
    })
    expect(await field.rollback(id)).toMatchObject({
      status: 'partial',
      decided: { decision: 'partial', by: 'person:bo', withoutCount: 1 },
    })
    // Whoever said so knows: nobody is asked about it once more.
    expect(await field.look((run) => run.openApprovals.size)).toBe(0)
  })

  it('asks those again that said no, when a person wants that; the others’ votes stand', async () => {
    let says: Prepared = cannot('conflict')()
    const field = await Field.done({ prepare: { policy: () => says } })
    const id = await field.rollBack({ node: 'router', scope: 'sub_dag' })
    await field.until((run) => run.openApprovals.size > 0)
    await field.answer('ask_again')
    // It says no once more: people are asked once more, an hour later.
    await field.until((run) => run.openApprovals.size > 0)
    expect((await field.rollback(id)).votes.size).toBe(4)
    field.schedule.at(field.schedule.now() + 3600_000, 'an hour', () => undefined)
    const later = field.schedule.now() + 3600_000
    await field.until(() => field.schedule.now() >= later)
    says = { vote: 'prepared', description: 'It can now' }
    await field.answer('ask_again')
    await field.over()
    expect(field.asked.filter((what) => what === 'prepare policy')).toHaveLength(3)
    expect(field.asked.filter((what) => what === 'prepare router')).toHaveLength(1)
    // The time a person took does not count: nothing is out of time.
    expect(await field.rollback(id)).toMatchObject({ status: 'completed', decided: { by: 'engine' } })
    expect(await field.statuses(id)).toEqual({
      ...{ monitor: 'completed', notify: 'completed', policy: 'completed', router: 'completed' },
    })
  })

  it('is called off by a person: everything stays as it is', async () => {
    const field = await Field.done({ prepare: { monitor: cannot('hash_mismatch') } })
    const id = await field.rollBack({ node: 'router', scope: 'sub_dag' })
    await field.answer('abort', 'Not tonight')
    await field.over()
    expect(await field.rollback(id)).toMatchObject({
      status: 'escalated',
      decided: { decision: 'abort', reason: 'Not tonight' },
    })
    expect(await field.statuses(id)).toEqual({})
    expect(await field.look((run) => run.visits.get('notify')?.state.status)).toBe('done')
    expect(await field.look((run) => run.state)).toMatchObject({ status: 'ended', terminal: 'success' })
  })

  it('goes on without one by the workflow’s rule only where nothing else rests on it', async () => {
    const rule = { containment: { onUnprepared: 'partial' } } as const
    const first = await Field.done({ prepare: { router: cannot('unknown_checkpoint') } }, steps(), rule)
    const id = await first.rollBack({ node: 'router', scope: 'sub_dag' })
    await first.over()
    expect(await first.rollback(id)).toMatchObject({
      status: 'partial',
      decided: { decision: 'partial', by: 'engine' },
    })
    expect(await first.statuses(id)).toMatchObject({ router: 'escalated', policy: 'completed' })
    expect(await first.look((run) => run.openApprovals.size)).toBe(1)

    const middle = await Field.done({ prepare: { policy: cannot('expired') } }, steps(), rule)
    await middle.rollBack({ node: 'router', scope: 'sub_dag' })
    await middle.until((run) => run.openApprovals.size > 0)
    expect(middle.asked.filter((what) => what.startsWith('undo'))).toEqual([])
  })

  it('does nothing and tells a person where the workflow says so', async () => {
    const rule = { containment: { onUnprepared: 'abort' } } as const
    const field = await Field.done({ prepare: { monitor: cannot('expired') } }, steps(), rule)
    const id = await field.rollBack({ node: 'router', scope: 'sub_dag' })
    await field.over()
    expect(await field.rollback(id)).toMatchObject({
      status: 'escalated',
      decided: { decision: 'abort', by: 'engine' },
    })
    expect(await field.look((run) => run.state)).toMatchObject({ status: 'rolled_back', rollback: id })
  })

  it('says in an error token that a checkpoint does not verify', async () => {
    const field = await Field.done()
    const of = (node: string) => (run: Run) =>
      [...run.checkpoints.values()].find((checkpoint) => checkpoint.node === node)?.jti ?? ''
    const broken = await field.look(of('policy'))
    field.ports.tokenHolds = async (_run, jti) => jti !== broken
    const id = await field.rollBack({ node: 'router', scope: 'sub_dag' })
    await field.over()
    const rows = await field.ports.ledger.rows(field.runId, 0, 1000)
    const claims = rows.map(({ token }) => parseClaims(unverifiedPayload(token)))
    const errors = claims.filter(({ exec_act }) => exec_act === 'atd:error')
    expect(errors).toHaveLength(1)
    expect(errors[0]?.par).toContain(broken)
    expect(errors[0]?.ext).toMatchObject({
      'atd.severity': 'warning',
      'atd.error_type': 'constraint_violation',
    })
    const { votes } = await field.rollback(id)
    const vote = claims.find(({ jti }) => jti === votes.get(broken)?.jti)
    expect(vote?.par).toContain(errors[0]?.jti)
    expect(votes.get(broken)).toMatchObject({ vote: 'cannot_prepare', reason: 'hash_mismatch' })
    expect((await field.statuses(id)).router).toBe('completed')
  })

  it('counts an agent without an answer as unreachable after half of its time', async () => {
    const silent = () => {
      throw new EffectFailed('no_answer', 'No answer came', { retriable: true })
    }
    const field = await Field.done({ prepare: { monitor: silent } })
    const id = await field.rollBack({ node: 'router', scope: 'sub_dag' })
    const from = field.schedule.now()
    await field.until((run) => run.openApprovals.size > 0)
    expect(field.schedule.now() - from).toBeLessThan(31_000)
    const { votes } = await field.rollback(id)
    const vote = [...votes.values()].find(({ node }) => node === 'monitor')
    expect(vote).toMatchObject({
      vote: 'cannot_prepare',
      reason: 'unreachable',
      description: 'No answer came',
    })
    expect(field.asked.filter((what) => what === 'prepare monitor').length).toBeGreaterThan(3)
    expect(field.asked.filter((what) => what === 'prepare router').length).toBe(1)
  })

  it('asks an agent that died between the phases again, and hands it to a person when the time is over', async () => {
    let calls = 0
    const dies = (until: number) => () => {
      calls += 1
      if (calls >= until) return { description: 'It is back' }
      throw new EffectFailed('unreachable', 'Nobody is there', { retriable: true })
    }
    const back = await Field.done({ undo: { monitor: dies(3) } })
    const first = await back.rollBack({ node: 'router', scope: 'sub_dag' })
    await back.over()
    expect(await back.rollback(first)).toMatchObject({ status: 'completed' })

    const gone = await Field.done({ undo: { monitor: dies(1000) } })
    const second = await gone.rollBack({ node: 'router', scope: 'sub_dag' })
    await gone.over()
    // What waited for it has time left.
    expect(await gone.rollback(second)).toMatchObject({ status: 'partial' })
    expect(await gone.statuses(second)).toEqual({
      ...{ monitor: 'escalated', notify: 'completed', policy: 'completed', router: 'completed' },
    })
    const { acts } = await gone.rollback(second)
    const act = [...acts.values()].find(({ node }) => node === 'monitor')
    expect(act?.description).toMatch(/nobody knows whether it is undone/)
  })

  it('stops the run when it fails, until somebody decides', async () => {
    const broken = (): Undone => ({ status: 'failed', description: 'The configuration does not parse' })
    const field = await Field.done({ undo: { monitor: broken } })
    const id = await field.rollBack({ node: 'monitor', scope: 'single' })
    await field.over()
    expect(await field.rollback(id)).toMatchObject({ status: 'failed' })
    await field.until((run) => run.openApprovals.size > 0)
    const [asked, status] = await field.look((run) => [
      [...run.openApprovals].map((open) => run.approvals.get(open)),
      run.state.status,
    ])
    expect(asked.map((one) => [one?.kind, one?.sentence])).toContainEqual([
      'rollback_failed',
      'The rollback of "monitor" failed; the run stands still',
    ])
    expect(status).not.toBe('running')
  })

  it('looks at a person first when an agent’s rollback would reach a critical step', async () => {
    const nodes = steps({ policy: step('policy', ['router'], { priority: 'critical' }) })
    const field = await Field.done({}, nodes)
    const id = await field.rollBack({ node: 'router', scope: 'sub_dag' }, `agent:${agentId('router')}`)
    await field.until((run) => run.openApprovals.size > 0)
    expect(field.asked).toEqual([])
    expect(await field.view(id)).toMatchObject({ phase: 'asking', question: { kind: 'rollback_critical' } })
    await field.answer('refuse', 'It carries live traffic')
    await field.over()
    expect(await field.rollback(id)).toMatchObject({
      decided: { decision: 'abort', by: 'person:bo', reason: 'It carries live traffic' },
    })
    const again = await field.rollBack({ node: 'router', scope: 'sub_dag' }, `agent:${agentId('router')}`)
    await field.answer('approve')
    await field.until((run) => run.rollbacks.get(again)?.status !== undefined)
    expect(await field.rollback(again)).toMatchObject({ status: 'completed' })
  })

  it('asks nobody first when a person saw the plan', async () => {
    const nodes = steps({ policy: step('policy', ['router'], { priority: 'critical' }) })
    const field = await Field.done({}, nodes)
    const id = await field.rollBack({ node: 'router', scope: 'sub_dag' })
    await field.over()
    expect(await field.rollback(id)).toMatchObject({ status: 'completed' })
  })
})

describe('two rollbacks of one run', () => {
  it('let the broader one take over, which leaves what was undone as it is', async () => {
    const field = await Field.done({ prepare: { policy: cannot('expired') } })
    const narrow = await field.rollBack({ node: 'router', scope: 'sub_dag' })
    await field.until((run) => run.openApprovals.size > 0)
    const broad = await field.rollBack({ node: 'plan', scope: 'full_workflow' })
    expect(await field.look((run) => run.openApprovals.size)).toBe(0)
    expect(await field.view(narrow)).toMatchObject({
      status: 'superseded',
      phase: 'over',
      supersededBy: broad,
    })
    await field.answer('go_on_without')
    await field.over()
    expect(await field.rollback(broad)).toMatchObject({ status: 'partial', supersedes: narrow })
    expect(await field.statuses(narrow)).toEqual({})
  })

  it('refuse the narrower one, and one that reaches as far, with the id of the one that goes first', async () => {
    const field = await Field.done({ prepare: { policy: cannot('expired') } })
    const first = await field.rollBack({ node: 'router', scope: 'sub_dag' })
    await field.until((run) => run.openApprovals.size > 0)
    const refused = await field
      .rollBack({ node: 'policy', scope: 'sub_dag' })
      .catch((error: unknown) => error)
    if (!isProblem(refused, 'rollback_conflict')) throw refused
    expect(refused.data).toEqual({ conflicting_rollback_id: first })
    expect(refused.message).toBe(
      `${first} is under way, reaches the same steps and goes first: it reaches as far (a step and all that followed) and was asked for earlier`,
    )
  })
})

describe('a broader rollback that takes over one with acts under way', () => {
  /** An agent that answers when it is told to. */
  const late = (node: string) => {
    let answer: () => void = () => undefined
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    const undo = async (): Promise<Undone> => {
      await answered
      return { stateHashAfter: hashJson({ agent: agentId(node), node }), description: 'It is back, late' }
    }
    return { undo, answer: () => answer() }
  }
  const agents = ['policy', 'router', 'monitor', 'notify']
  const whole = { node: 'plan', scope: 'full_workflow', mayCoordinate: true } as const
  const began = (node: string) => (run: Run) =>
    [...run.rollbacks.values()].some(({ acts }) => [...acts.values()].some((act) => act.node === node))
  const undos = (field: Field) => field.asked.filter((what) => what.startsWith('undo')).sort()

  it('is agreed to once: what the narrower one does meanwhile changes no plan', async () => {
    const monitor = late('monitor')
    const policy = late('policy')
    const field = await Field.done({ undo: { monitor: monitor.undo, policy: policy.undo } })
    const narrow = await field.rollBack({ node: 'policy', scope: 'sub_dag' })
    await field.until(began('monitor'))
    const shown = await makePlan(field.ports, field.runId, whole)
    monitor.answer()
    await field.until(began('policy'))
    const now = await makePlan(field.ports, field.runId, whole)
    expect(now.seq).toBeGreaterThan(shown.seq)
    expect(now.digest).toBe(shown.digest)
    // Also where the tokens came while it was planned: what was begun since is not planned a second time.
    const broad: RollbackId = `rb_${mintUuid()}`
    await executePlan(field.ports, field.runId, shown, {
      by: 'person:bo',
      reason: 'All of it',
      rollback: broad,
    })
    const { plan } = await field.rollback(broad)
    const stored = (await readJson(field.ports.ledger, plan)) as unknown as Plan
    expect(stored.steps.map(({ node }) => node).sort()).toEqual(['notify', 'plan', 'router'])
    policy.answer()
    await field.over()
    expect(await field.rollback(broad)).toMatchObject({ status: 'completed', supersedes: narrow })
    expect(await field.statuses(narrow)).toEqual({ monitor: 'completed', policy: 'completed' })
    expect(await field.statuses(broad)).toEqual({ notify: 'completed', router: 'completed' })
    expect(undos(field)).toEqual(agents.map((node) => `undo ${node}`).sort())
  })

  it('does not do again what the narrower one undid between its plan and its turn', async () => {
    const policy = late('policy')
    const field = await Field.done({ undo: { policy: policy.undo } })
    const narrow = await field.rollBack({ node: 'policy', scope: 'sub_dag' })
    await field.until(began('policy'))
    const broad = await field.rollBack(whole)
    policy.answer()
    await field.over()
    expect(await field.statuses(narrow)).toEqual({ monitor: 'completed', policy: 'completed' })
    expect(await field.rollback(broad)).toMatchObject({ status: 'completed' })
    expect(undos(field)).toEqual(agents.map((node) => `undo ${node}`).sort())
  })

  it('is planned anew where more is to be undone than was planned', async () => {
    const policy = late('policy')
    const field = await Field.done({ undo: { policy: policy.undo } })
    await field.rollBack({ node: 'policy', scope: 'sub_dag' })
    await field.until(began('policy'))
    const { steps, ...plan } = await makePlan(field.ports, field.runId, whole)
    const less = { ...plan, seq: plan.seq - 1, steps: steps.filter(({ node }) => node !== 'notify') }
    const refused = await executePlan(field.ports, field.runId, less, {
      ...{ by: 'person:bo', reason: 'Less', rollback: `rb_${mintUuid()}` as const },
    }).catch((error: unknown) => error)
    if (!isProblem(refused, 'rollback_plan_changed')) throw refused
    expect(refused.message).toMatch(/^The run moved on since the plan: it had \d+ tokens, now \d+$/)
    policy.answer()
    await field.over()
  })
})

describe('only what was made from a step', () => {
  it('is taken back; what merely followed stays', async () => {
    const field = await Field.done()
    const id = await field.rollBack({ node: 'router', scope: 'sub_dag', only: 'dependents' })
    await field.over()
    expect(await field.statuses(id)).toEqual({
      ...{ notify: 'completed', policy: 'completed', router: 'completed' },
    })
    expect(await field.look((run) => run.visits.get('monitor')?.state.status)).toBe('done')
  })
})
