/*
 * Every pack does what its first lines say: it runs to its end on the real engine, and what it knew on the way stands in
 * the trace. The models answer from scripts; the repository, the test runner, the database
 * and the lab's agents are real ones.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { registerAgent } from '@/lib/auth/agents'
import { type RunId, widOf } from '@/lib/base/ids'
import { verifyLedgerNode } from '@/lib/ect/ledger-verify-node'
import { forkPlan, forkRun } from '@/lib/server/forks'
import { planFor, requestRollback } from '@/lib/server/rollbacks'
import { type Lab, startLab } from '../lab/start-lab'
import { ada, PackHouse, type ReadRow } from './pack-house'

let at: PackHouse
beforeEach(async () => {
  at = await PackHouse.open()
})
afterEach(() => at.close())

/** Rows of the trace as a table: where to, by which event, and the named artifacts. */
const table = (rows: ReadRow[], ...artifacts: string[]) =>
  rows.map(({ to, event, values }) => [to, event, ...artifacts.map((name) => values[name])].join(' | '))

describe('example 1, code that is written until its tests pass', () => {
  const pack = 'codegen.pack.yaml'
  const input = { requirements: 'Turn a headline into a part of a URL.' }
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', path.join(at.work, 'work/codegen'), ...args], { encoding: 'utf8' }).trim()
  const slug = () => readFileSync(path.join(at.work, 'work/codegen/src/slug.mjs'), 'utf8')

  async function finished(): Promise<RunId> {
    const run = await at.begin(pack, input)
    expect(await at.settled(run)).toMatchObject({
      status: 'completed',
      lastNode: 'done',
      finalValue: { text: expect.stringContaining('the second passes all'), artifacts: expect.anything() },
    })
    return run
  }

  it('reads like the table of the RFC, with the commits that git has and the report its tests give', async () => {
    const run = await finished()
    const [second, first, ...before] = git('log', '--format=%H').split('\n')
    expect(before).toHaveLength(1)
    expect(table(await at.trace(run), 'commit_sha', 'test_report')).toEqual([
      'plan | (entry) | — | —',
      'implement (1) | PlanReady | — | —',
      `test (1) | CodeReady | ${first} | —`,
      `implement (2) | TestsFailed | ${first} | 2/5 pass`,
      `test (2) | CodeReady | ${second} | 2/5 pass`,
      `review | TestsPassed | ${second} | 5/5 pass`,
      `done | Approved | ${second} | 5/5 pass`,
    ])
    expect(git('show', `${first}:src/slug.mjs`)).toContain("replace(' ', '-')")
    expect(slug()).toContain('Diacritic')
    expect(await at.artifact(run, 'test_report')).toEqual([
      { summary: '5/5 pass', pass: 5, fail: 0, total: 5, failures: [] },
    ])
    expect(await at.written(run, 'test_report', 0)).toMatchObject({
      summary: '2/5 pass',
      failures: [
        expect.stringMatching(/^joins any number of words.*expected "a-link-goes-down", found "a-/),
        expect.stringContaining('leaves punctuation out'),
        expect.stringContaining('writes accented letters plain'),
      ],
    })
  })

  it('does each tool call as a step of its own, in a signed ledger', async () => {
    const run = await finished()
    expect((await at.turns(run)).map(({ path }) => path.join(' '))).toEqual([
      'turn',
      'turn tool_1 turn',
      'turn tool_1 turn',
      // The tests are read before they are satisfied.
      'turn tool_2 turn tool_1 turn',
      'turn tool_1 turn',
      'turn',
      'turn',
    ])
    expect(await at.look(run, ({ toolCalls }) => toolCalls)).toBe(5)
    const { ledger } = at.house.store
    const verdict = await verifyLedgerNode({
      wid: widOf(run),
      rows: await ledger.rows(run, 0, 10_000),
      heads: await ledger.heads(run),
      keys: at.house.keys.keys,
    })
    expect(verdict).toMatchObject({ holds: true })
  })

  it('is taken back by commits of its own, the last one first', async () => {
    const run = await finished()
    const plan = await planFor(at.house, run, ada, { node: 'implement', scope: 'sub_dag' })
    expect(plan.forbidden).toBeUndefined()
    await requestRollback(at.house, run, ada, {
      node: 'implement',
      scope: plan.scope,
      digest: plan.digest,
      reason: 'Another design was chosen',
    })
    await at.settled(run)
    expect(slug()).toContain("replace(' ', '-')")
    expect(git('log', '-1', '--format=%s')).toBe('Revert "Write src/slug.mjs"')
  })

  it('goes on from the moment before the tests passed, with another report, in a run of its own', async () => {
    const run = await finished()
    const rows = await at.trace(run)
    const before = await at.look(run, ({ seq }) => seq)
    const moment = rows.find(({ to }) => to === 'implement (2)')?.seq ?? 0
    const plan = await forkPlan(at.house, run, { at: moment })
    const fork = await forkRun(at.house, run, {
      at: moment,
      artifacts: { test_report: { summary: '4/5 pass', pass: 4, fail: 1, total: 5, failures: ['one'] } },
      dryRun: false,
      digest: plan.digest,
      by: 'person:ada',
    })
    expect(await at.settled(fork)).toMatchObject({ status: 'completed', lastNode: 'done' })
    const told = table(await at.trace(fork), 'test_report')
    expect(told.slice(-4)).toEqual([
      'implement (2) | TestsFailed | 4/5 pass',
      'test (2) | CodeReady | 4/5 pass',
      'review | TestsPassed | 5/5 pass',
      'done | Approved | 5/5 pass',
    ])
    expect(await at.look(run, ({ seq }) => seq)).toBe(before)
  })

  it('goes on in a dry run without writing or running anything', async () => {
    const run = await finished()
    const commits = git('log', '--format=%H')
    const moment = (await at.trace(run)).find(({ to }) => to === 'implement (2)')?.seq ?? 0
    const { digest } = await forkPlan(at.house, run, { at: moment })
    const fork = await forkRun(at.house, run, { at: moment, dryRun: true, digest, by: 'person:ada' })
    expect(await at.settled(fork)).toMatchObject({ status: 'completed', lastNode: 'done' })
    expect(git('log', '--format=%H')).toBe(commits)
  })
})

describe('example 2, questions to a database', () => {
  const queried = (sql: string) => {
    const database = new Database(path.join(at.work, 'work/shop.db'), { readonly: true })
    const found = database.prepare(sql).pluck().all()
    database.close()
    return found
  }

  it('asks, is told what is wrong with a query, and ends with what the data say', async () => {
    const run = await at.begin('data-explorer.pack.yaml', { dataset_description: 'Orders of a web shop' })
    expect(await at.settled(run)).toMatchObject({
      status: 'completed',
      lastNode: 'report',
      finalValue: { text: expect.stringContaining('43.3 %') },
    })
    expect(table(await at.trace(run), 'findings', 'queries_run')).toEqual([
      'hypothesize (1) | (entry) | — | —',
      'query (1) | HypothesisFormed | — | —',
      'hypothesize (2) | QueryFailed | — | —',
      'query (2) | HypothesisFormed | — | 1 entry',
      'analyze (1) | QueryComplete | — | 1 entry',
      'hypothesize (3) | HypothesisConfirmed | — | 1 entry',
      'query (3) | HypothesisFormed | 1 entry | 2 entries',
      'analyze (2) | QueryComplete | 1 entry | 2 entries',
      'hypothesize (4) | HypothesisRefuted | 1 entry | 2 entries',
      'report | AnalysisComplete | 2 entries | 3 entries',
    ])
    // What SQLite itself says of the same question.
    const late = 'delivered_days > promised_days'
    const share = `round(100.0 * avg(returned), 1)`
    const found = queried(`SELECT ${share} FROM orders GROUP BY ${late}`)
    expect(found).toEqual([9.1, 43.3])
    expect(await at.written(run, 'query_result_ref', 0)).toEqual({
      query_id: expect.stringMatching(/^q_[0-9a-f]{8}$/),
      row_count: 2,
      summary: {
        late: { min: 0, max: 1, mean: 0.5 },
        orders: { min: 240, max: 960, mean: 600 },
        returned_pct: { min: found[0], max: found[1], mean: 26.2 },
      },
    })
    expect(await at.artifact(run, 'findings')).toMatchObject([
      { verdict: 'supported', metric: '43.3 % of late orders came back, 9.1 % of the others' },
      { verdict: 'refuted' },
    ])
  })

  it('reads and never writes, whatever SQL a model sends', async () => {
    const run = await at.begin('data-explorer.pack.yaml', { dataset_description: 'Orders' }, [
      ['answers/data-explorer.json', 'answers/data-vandal.json'],
    ])
    expect(await at.settled(run)).toMatchObject({ status: 'completed', lastNode: 'report' })
    expect(queried('SELECT count(*) FROM orders')).toEqual([1_200])
  })
})

describe('example 3, a task that is tried again', () => {
  it('succeeds at the third attempt', async () => {
    const run = await at.begin('self-correcting.pack.json', {})
    expect(await at.settled(run)).toMatchObject({ status: 'completed', lastNode: 'complete' })
    expect(table(await at.trace(run), 'error_summary')).toEqual([
      'work (1) | (entry) | —',
      'work (2) | Error | Parse error: the answer was no JSON',
      'work (3) | Error | Schema error: "total" is missing',
      'complete | Success | Schema error: "total" is missing',
    ])
  })

  it('is given up where a fourth would have been', async () => {
    const run = await at.begin('self-correcting.pack.json', {}, [
      ['answers/self-correcting.json', 'answers/self-correcting-gives-up.json'],
    ])
    expect(await at.settled(run)).toMatchObject({ status: 'completed', lastNode: 'give_up' })
    expect((await at.trace(run)).map(({ to, event }) => `${to} ${event}`)).toEqual([
      'work (1) (entry)',
      'work (2) Error',
      'work (3) Error',
      'give_up Error',
    ])
    const step = await at.look(run, ({ walk }) => walk?.path.at(-1)?.insteadOf)
    expect(step).toEqual(['work'])
  })
})

describe('example 4, a fix that a person approves', () => {
  let lab: Lab
  beforeEach(async () => {
    const { keys, auth } = at.house
    lab = await startLab({ dataDir: path.join(at.work, 'lab'), basePort: 0, consoleJwks: () => keys.jwks() })
    for (const agent of lab.agents) await registerAgent(auth, agent, 'person:ada')
  })
  afterEach(() => lab.stop())

  const routerConfig = () => readFileSync(path.join(at.work, 'lab/edge-router-07/running-config'), 'utf8')
  const flowsSeen = async () => {
    const monitor = lab.agents.find(({ name }) => name === 'traffic-monitor')
    return (await fetch(`${monitor?.baseUrl}/state`)).json()
  }

  async function begun(): Promise<RunId> {
    const ports = lab.agents.map(({ baseUrl }, number): [string, string] => [
      `127.0.0.1:${4701 + number}`,
      new URL(baseUrl).host,
    ])
    const alert = 'edge-router-07: packets are lost through transit-a'
    return at.begin('remediation.pack.yaml', { alert_description: alert }, ports)
  }

  it('changes nothing before it is approved, proposes another fix when it is rejected, and makes that one', async () => {
    const before = routerConfig()
    const run = await begun()
    const waits = { status: 'paused', lastNode: 'await_approval' }
    expect(await at.settled(run)).toMatchObject(waits)
    expect(await at.artifact(run, 'proposed_fix')).toMatchObject([{ parameters: { keep_collector: false } }])
    await at.give(run, 'Rejected', 'It would cut off the monitor')
    expect(await at.settled(run)).toMatchObject(waits)
    expect(await at.artifact(run, 'proposed_fix')).toMatchObject([{ parameters: { keep_collector: true } }])
    expect(routerConfig()).toBe(before)

    await at.give(run, 'Approved', 'That keeps it')
    expect(await at.settled(run)).toMatchObject({ status: 'completed', lastNode: 'postmortem' })
    expect(routerConfig()).not.toBe(before)
    expect(await flowsSeen()).toMatchObject({ reachable: true })
    expect(table(await at.trace(run), 'diagnosis_log')).toEqual([
      'diagnose (1) | (entry) | —',
      'diagnose (2) | NeedMoreData | 1 entry',
      'propose (1) | DiagnosisReady | 2 entries',
      'await_approval (1) | FixProposed | 2 entries',
      'diagnose (3) | Rejected | 2 entries',
      'propose (2) | DiagnosisReady | 3 entries',
      'await_approval (2) | FixProposed | 3 entries',
      'execute | Approved | 3 entries',
      'verify | FixApplied | 3 entries',
      'postmortem | Healthy | 3 entries',
    ])
  })

  it('is taken back byte for byte', async () => {
    const before = routerConfig()
    const run = await begun()
    await at.settled(run)
    await at.give(run, 'Rejected', '')
    await at.settled(run)
    await at.give(run, 'Approved', '')
    await at.settled(run)
    const plan = await planFor(at.house, run, ada, { node: 'execute', scope: 'sub_dag' })
    const { scope, digest } = plan
    await requestRollback(at.house, run, ada, {
      node: 'execute',
      scope,
      digest,
      reason: 'The alert was wrong',
    })
    await at.settled(run)
    expect(routerConfig()).toBe(before)
  })
})

describe('example 5, a workflow from before loops', () => {
  it('goes from state to state, and a persistent one goes on with the conversation', async () => {
    const run = await at.begin('intake.pack.yaml', { request: 'A page that lists open orders' })
    expect(await at.settled(run)).toMatchObject({ status: 'completed', lastNode: 'execution' })
    expect((await at.trace(run)).map(({ to, event }) => `${to} ${event}`)).toEqual([
      'intake (entry)',
      'planning RequirementsGathered',
      'execution PlanReady',
    ])
    const said = (await at.turns(run)).map(
      ({ talk }) => talk.filter((words) => words.includes('open orders')).length,
    )
    expect(said).toEqual([1, 1, 0])
  })
})
