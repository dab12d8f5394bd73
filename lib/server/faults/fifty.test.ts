/* Fifty workflows on one failing agent: people are asked once, and the agent is never probed by two at a time. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createLocalJWKSet } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Served, serve } from '@/examples/agents/serve'
import type { RunId } from '@/lib/base/ids'
import { LabScene } from '../testing/lab-scene'
import { MovedClock } from '../testing/moved-clock'

const id = 'spiffe://holdpoint.local/agent/shared'
const count = 50
const clock = new MovedClock()
let scene: LabScene
let folder: string
let running: Awaited<ReturnType<typeof serve>>

/** What the agent saw of the requests it was sent. */
const seen = { isWell: false, asked: 0, atOnce: 0, mostAtOnce: 0 }

const look: Served = {
  id,
  name: 'shared',
  operations: {
    look: {
      consequence: 'read_only',
      describe: async () => ({ sentence: 'Looks.', target: 'what it sees' }),
      execute: async () => ({ output: { seen: true } }),
    },
  },
}

beforeAll(async () => {
  scene = await LabScene.open({ timer: clock, lab: false })
  folder = mkdtempSync(path.join(tmpdir(), 'shared-agent-'))
  running = await serve(look, {
    ...{
      folder,
      port: 0,
      callers: (header, token) => createLocalJWKSet(scene.at.house.keys.jwks())(header, token),
    },
    async sending(request, answer) {
      if (seen.isWell || request.method === 'GET') return answer()
      seen.asked += 1
      seen.atOnce += 1
      seen.mostAtOnce = Math.max(seen.mostAtOnce, seen.atOnce)
      await new Promise((resolve) => setTimeout(resolve, 20))
      seen.atOnce -= 1
      return new Response('{}', { status: 503 })
    },
  })
  await scene.register(id, 'shared', running.baseUrl)
})

afterAll(async () => {
  await scene.close()
  await running.stop()
  rmSync(folder, { recursive: true })
})

function workflow(name: string): string {
  const hints = { priority: 'normal', timeout_s: 30 }
  const constraints = { 'hp.circuit_min_calls': 1, 'hp.when_open': 'wait' }
  const step = { id: 'look', label: 'Look', hitl_required: false, resource_hints: hints, constraints }
  const node = { ...step, retry: { max_attempts: 5 }, agent: id, agent_config: { operation: 'look' } }
  return JSON.stringify({ wf_id: name, description: 'Looks', nodes: [node], edges: [] })
}

const statusesOf = async () =>
  (await scene.at.house.store.circuits.ofDownstream(id)).map(({ state }) => state.calculated.status)

it('asks one question, holds every probe, and lets probes go one at a time once a person says so', async () => {
  const otto = await scene.at.person('otto', 'operator', 'coordinator')
  const runs: RunId[] = []
  for (let at = 1; at <= count; at++) runs.push(await scene.start(await scene.workflow(workflow(`w-${at}`))))
  for (const run of runs) await scene.untilFact(run, 'circuit_open')
  expect(await statusesOf()).toEqual(Array(count).fill('open'))
  const asking = await Promise.any(runs.map((run) => scene.question(run, 'circuit').then(() => run)))
  expect(await scene.questions(runs)).toHaveLength(1)

  // The pause of every breaker is over, and still nothing is sent: the probes are held.
  const askedBefore = seen.asked
  expect(askedBefore).toBeLessThanOrEqual(2 * count)
  clock.advance(31_000)
  for (const run of runs) await scene.untilFact(run, 'call_rejected')
  expect(seen.asked).toBe(askedBefore)

  seen.mostAtOnce = 0
  seen.asked = 0
  await scene.answer(otto, await scene.question(asking, 'circuit'), 'release')
  const again = await Promise.any(
    runs.map((run) =>
      scene.until(run, 'A second question', ({ approvals }) => {
        const asked = [...approvals.values()].filter(
          ({ kind, state }) => kind === 'circuit' && state.status === 'open',
        )
        return asked.length > 0 ? run : undefined
      }),
    ),
  )
  // One call went, failed, and the card is back with what it said: of the other forty-nine none was sent.
  expect([seen.mostAtOnce, seen.asked]).toEqual([1, 1])
  expect(await scene.questions(runs)).toHaveLength(1)
  expect((await scene.question(again, 'circuit')).sentence).toMatch(
    /^The probe of shared failed: .+; no other goes until you decide$/,
  )

  // The run that asks ends before anybody answered: another one asks the same, and still nothing is sent.
  const { sentence } = await scene.question(again, 'circuit')
  await scene.at.house.book.execute(again, { type: 'cancel', by: 'person:otto', reason: 'Enough.' })
  const left = runs.filter((run) => run !== again)
  const last = await Promise.any(left.map((run) => scene.question(run, 'circuit').then(() => run)))
  expect(await scene.questions(runs)).toMatchObject([{ sentence }])
  clock.advance(301_000)
  expect(seen.asked).toBe(1)

  seen.isWell = true
  await scene.answer(otto, await scene.question(last, 'circuit'), 'release')
  for (const run of left)
    expect(
      await scene.until(
        run,
        'The end',
        ({ state }) => (state.status === 'ended' ? state.terminal : undefined),
        60_000,
      ),
    ).toBe('success')
  expect((await statusesOf()).sort()).toEqual([...Array(count - 1).fill('closed'), 'open'])
})
