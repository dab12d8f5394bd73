import { describe, expect, it } from 'vitest'
import { hashJson } from '@/lib/base/hash'
import { isProblem } from '@/lib/base/problem'
import type { Claims } from '@/lib/ect/claims'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { indexGraph } from '@/lib/workflow/graph-index'
import { copyRun, evolveShared, shareRun } from './copy-run'
import { decide } from './decide'
import { due } from './due'
import { evolve, newRun } from './evolve'
import { claimsOf, factOf } from './fact-codec'
import { begun, historyBegins, historyOf, momentAfter, started, uuidOf } from './histories'
import { outcomeOf } from './outcome'
import { projectionOf } from './projection'
import type { Run } from './run'

const home = 'spiffe://holdpoint.local/holdpoint'
const planner = 'spiffe://lab.example/agent/planner'
const router = 'spiffe://lab.example/agent/router'
const hash = hashJson('state')
const reportedGraph = { ...graphOf({}, []), name: 'planner (reported)', reported: true as const }

let said = 100
function token(agent: string, act: string, par: string[], more: Partial<Claims> = {}): Claims {
  said += 1
  const iat = Math.floor(historyBegins / 1000) + said
  return {
    iss: agent,
    aud: home,
    iat,
    exp: iat + 600,
    jti: uuidOf(said),
    wid: uuidOf(1),
    exec_act: act,
    par,
    ...more,
  }
}

/** A run that the planner began, before its first report. */
function opened(): Run {
  const run = newRun(indexGraph(reportedGraph))
  const { facts } = decide(
    run,
    { type: 'start', version: hash, input: hash, by: `agent:${planner}`, dryRun: false },
    { ...momentAfter(run), now: historyBegins },
  )
  for (const fact of facts) evolve(run, fact)
  return run
}

function report(run: Run, claims: Claims): Run {
  const fact = factOf(claims, home)
  if (fact.type !== 'reported') throw new Error('It was taken for one of ours')
  const { facts } = decide(run, { type: 'report', fact, linked: [] }, momentAfter(run))
  for (const one of facts) evolve(run, one)
  return run
}

const stateOf = (run: Run, { jti }: Claims) => run.visits.get(jti)?.state.status
const checkpoint = (agent: string, of: Claims, ext: object = {}) =>
  token(agent, 'atd:checkpoint', [of.jti], {
    out_hash: hash,
    ext: {
      'atd.reversible': true,
      'atd.rollback_uri': 'http://127.0.0.1:4701/.well-known/atd/rollback',
      'atd.ttl': 3600,
      'atd.target': 'router-07',
      ...ext,
    },
  })

describe('a reported run', () => {
  it('grows a graph of the actions, each done with the next one that follows from it', () => {
    const run = opened()
    const plan = token(planner, 'plan_change', [], { ext: { 'atd.description': 'Plan the change' } })
    const left = token(router, 'update_bgp', [plan.jti])
    const right = token(router, 'update_acl', [plan.jti])
    const check = token(planner, 'check', [left.jti, right.jti])
    for (const one of [plan, left, right, check]) report(run, one)
    expect(run.graph.graph.nodes.map(({ label }) => label)).toEqual([
      'Plan the change',
      'update_bgp',
      'update_acl',
      'check',
    ])
    expect(run.graph.graph.edges.map(({ from, to }) => [from, to])).toEqual([
      [plan.jti, left.jti],
      [plan.jti, right.jti],
      [left.jti, check.jti],
      [right.jti, check.jti],
    ])
    expect([plan, left, right, check].map((one) => stateOf(run, one))).toEqual([
      'done',
      'done',
      'done',
      'running',
    ])
    expect(projectionOf(run, 0)).toMatchObject({ status: 'running', nodeCount: 4, doneCount: 3 })
    expect(due(run, historyBegins * 2)).toEqual({ now: [], nextAt: null, alarmAt: null })
  })

  it('is done with a step by the completion of its own agent, and of no other', () => {
    const run = report(opened(), token(router, 'update_bgp', []))
    const [step] = run.graph.order as [string]
    report(run, token(planner, 'update_bgp_complete', []))
    expect(run.visits.get(step)?.state.status).toBe('running')
    report(run, token(router, 'update_bgp_complete', [step], { out_hash: hash }))
    expect(run.visits.get(step)?.state).toMatchObject({ status: 'done', output: hash })
    expect(run.graph.order).toHaveLength(2)
  })

  it('keeps checkpoints with their agent, fails by errors and not by warnings, and takes back by the holder alone', () => {
    const run = opened()
    const step = token(router, 'update_bgp', [])
    const sealed = checkpoint(router, step)
    report(report(run, step), sealed)
    expect(run.checkpoints.get(sealed.jti)).toMatchObject({
      agent: router,
      node: step.jti,
      undo: 'remote',
      snapshot: hash,
      ttlS: 3600,
    })
    expect(stateOf(run, step)).toBe('running')
    const error = (severity: string) =>
      token(router, 'atd:error', [step.jti], {
        ext: { 'atd.severity': severity, 'atd.error_type': 'action_failed', 'atd.description': 'No session' },
      })
    report(run, error('warning'))
    expect(stateOf(run, step)).toBe('running')
    report(run, error('critical'))
    expect(run.visits.get(step.jti)?.state).toMatchObject({
      status: 'failed',
      error: { severity: 'critical', errorType: 'action_failed', description: 'No session' },
    })
    const result = (agent: string, status: string) =>
      token(agent, 'atd:rollback_result', [], {
        ext: { 'atd.status': status, 'atd.checkpoint_id': sealed.jti },
      })
    report(run, result(planner, 'completed'))
    expect(stateOf(run, step)).toBe('failed')
    report(run, result(router, 'completed'))
    expect(stateOf(run, step)).toBe('rolled_back')
    expect(run.checkpoints.get(sealed.jti)?.undone?.status).toBe('completed')
  })

  it('ends when the one that began it says so, with a token of ours that follows from theirs', () => {
    const run = opened()
    const step = token(router, 'update_bgp', [])
    report(run, step)
    report(run, token(router, 'atd:workflow_complete', [step.jti]))
    expect(run.state.status).toBe('running')
    expect(outcomeOf(run)).toBeUndefined()
    const end = token(planner, 'atd:workflow_complete', [step.jti], {
      ext: { 'atd.terminal_status': 'partial' },
    })
    report(run, end)
    expect(run.state).toMatchObject({ status: 'ended', terminal: 'partial' })
    expect(stateOf(run, step)).toBe('done')
    const late = factOf(token(router, 'one_more', []), home)
    expect(() => report(run, token(router, 'one_more', []))).toThrowError(/This run is over/)
    expect(late.type).toBe('reported')
  })

  it('is ended by a person whatever its agents are at, and nobody else', () => {
    const run = report(opened(), token(router, 'update_bgp', []))
    const at = momentAfter(run)
    for (const fact of decide(run, { type: 'cancel', by: 'person:ada', reason: 'Enough' }, at).facts) {
      evolve(run, fact)
    }
    expect(due(run, at.now).now).toEqual([{ do: 'finish' }])
    const ended = copyRun(run)
    for (const fact of decide(ended, { type: 'finish' }, at).facts) evolve(ended, fact)
    expect([...ended.visits.values()].map(({ state }) => state)).toMatchObject([
      { status: 'failed', error: { code: 'no_end_reported' } },
    ])
    expect(outcomeOf(run)).toEqual({ terminal: 'failed', reason: 'Cancelled by person:ada: Enough' })
  })

  it('is the same run again from copies of its past, and takes no token twice', () => {
    const run = opened()
    const first = token(planner, 'plan', [])
    report(run, first)
    const shared = shareRun(run)
    const whole = copyRun(run)
    const next = factOf(token(router, 'act', [first.jti]), home)
    for (const one of [run, shared, whole]) evolveShared(one, next)
    expect(shared.visits).toEqual(run.visits)
    expect(whole.visits).toEqual(run.visits)
    expect(run.graph.order).toHaveLength(2)
    expect(() => report(run, first)).toThrowError(/already in the ledger/)
  })
})

describe('a token of an agent in a run of ours', () => {
  const graph = graphOf({ a: {}, b: {} }, ['a>b'])
  const running = () => historyOf(graph, [begun(), started('a')]).run

  it('hangs under the step it follows and changes none of its states', () => {
    const run = running()
    const before = structuredClone({ visits: [...run.visits], counts: [...run.counts], state: run.state })
    const task = run.visits.get('a')?.taskJti as string
    const step = token(router, 'sub_step', [task])
    report(run, step)
    report(run, token(router, 'sub_step_done', [step.jti]))
    report(run, token(router, 'atd:error', [task], { ext: { 'atd.severity': 'critical' } }))
    report(run, token(router, 'atd:workflow_complete', [task]))
    report(run, token(router, 'atd:rollback_result', [task], { ext: { 'atd.status': 'completed' } }))
    const sealed = checkpoint(router, step)
    report(run, sealed)
    expect({ visits: [...run.visits], counts: [...run.counts], state: run.state }).toEqual(before)
    expect(run.reported?.placeOf.get(step.jti)).toMatchObject({ node: 'a', visit: 1 })
    expect(run.checkpoints.get(sealed.jti)).toMatchObject({ node: 'a', visit: 1, agent: router })
    expect(run.reported?.tokens).toBe(6)
  })

  it('tells of a breaker of its own, beside ours', () => {
    const run = report(
      running(),
      token(router, 'circuit_breaker_open', [], {
        ext: { 'cascade.downstream_agent': planner, 'cascade.error_rate': 0.75, 'cascade.window_s': 60 },
      }),
    )
    expect([...run.circuits.values()]).toMatchObject([
      { caller: router, downstream: planner, status: 'open', errorRate: 0.75, nodes: [] },
    ])
  })

  it('is never taken for one of ours, whatever it is spelled as', () => {
    const { run, facts } = historyOf(graph, [begun(), started('a')])
    const frame = { iss: home, aud: home, wid: uuidOf(1), vocabulary: 'atd' as const }
    const ours = facts.map((fact) => claimsOf(fact, frame))
    const before = structuredClone([...run.visits])
    for (const [at, claims] of ours.entries()) {
      const theirs = { ...claims, iss: router, jti: uuidOf(9000 + at) }
      const fact = factOf(theirs, home)
      expect(fact).toMatchObject({ type: 'reported', agent: router, act: claims.exec_act })
      expect(JSON.stringify(fact)).not.toContain('"visit"')
      evolve(run, fact)
    }
    expect([...run.visits]).toEqual(before)
    const evil = token(router, 'hp:task_complete', [], {
      ext: { 'hp.node': 'a', 'hp.visit': 1, 'hp.ms': 999 },
    })
    const taken = factOf(evil, home)
    expect(taken).toMatchObject({ type: 'reported', at: evil.iat * 1000 })
    expect(taken).not.toHaveProperty('meaning')
  })

  it('is refused past the bound', () => {
    const run = running()
    const fact = factOf(token(router, 'x', []), home)
    if (fact.type !== 'reported') throw new Error('It was taken for one of ours')
    evolve(run, fact)
    if (run.reported) run.reported.tokens = 10_000
    try {
      report(run, token(router, 'one_more', []))
      expect.unreachable()
    } catch (error) {
      expect(isProblem(error, 'report_limit')).toBe(true)
    }
  })
})
