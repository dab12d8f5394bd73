/* Agents that answer slowly, wrongly, twice, never: real processes on loopback, the product's own engine. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { Cable } from '@/e2e/cable'
import { labId } from '@/examples/lab/lab-agent'
import { storyAgents } from '@/examples/lab/story'
import type { RunId } from '@/lib/base/ids'
import { LabScene, oneStep } from '../testing/lab-scene'

let scene: LabScene
beforeAll(async () => {
  scene = await LabScene.open()
})
afterEach(async () => {
  for (const { name } of storyAgents) await scene.fail(name, { kind: 'none' })
})
afterAll(() => scene.close())

const ended = (run: RunId) =>
  scene.until(run, 'The end', ({ state }) => (state.status === 'ended' ? state.terminal : undefined))

async function errorsOf(run: RunId) {
  const facts = await scene.facts(run)
  return facts.flatMap((fact) => (fact.type === 'error' ? [{ ...fact }] : []))
}

let made = 0
/** A run of one step that is asked of the monitor; it has 5 s. */
async function checked(more: object = {}): Promise<RunId> {
  made += 1
  return scene.start(await scene.workflow(oneStep(`check-${made}`, 'traffic-monitor', 'check-flows', more)))
}

it('waits for an agent that is slow but within its time', async () => {
  await scene.fail('traffic-monitor', { kind: 'slow', ms: 400 })
  expect(await ended(await checked())).toBe('success')
})

it.each([
  { fault: { kind: 'never' }, code: 'effect_timeout', words: /was given up before an answer came/ },
  {
    fault: { kind: 'slow', ms: 20_000 },
    code: 'effect_timeout',
    words: /was given up before an answer came/,
  },
  { fault: { kind: 'garbage' }, code: 'not_json', words: /its answer is not JSON/ },
  { fault: { kind: 'errors' }, code: 'out_of_order', words: /traffic-monitor is out of order/ },
  { fault: { kind: 'skewed' }, code: 'ect_from_future', words: /refused "describe"/ },
] as const)(
  'fails the step with the reason when an agent answers $fault.kind',
  async ({ fault, code, words }) => {
    await scene.fail('traffic-monitor', fault)
    const run = await checked()
    expect(await ended(run)).toBe('failed')
    const [error] = await errorsOf(run)
    expect(error?.code).toBe(code)
    expect(error?.description).toMatch(words)
  },
)

it('takes one of two answers, and sends one mail', async () => {
  await scene.fail('mailer', { kind: 'twice' })
  const version = await scene.workflow(oneStep('mail-twice', 'mailer', 'send-mail', { reversible: false }))
  const runs = [await scene.start(version), await scene.start(version)]
  for (const run of runs) expect(await ended(run)).toBe('success')
  for (const run of runs) {
    const facts = await scene.facts(run)
    expect(facts.filter((fact) => fact.type === 'task_complete')).toHaveLength(1)
  }
  expect(scene.stateOf('mailer', 'sent-mail.log').toString().trim().split('\n')).toHaveLength(2)
})

it('goes on by itself when a cut network is mended', async () => {
  const cable = new Cable(scene.baseUrl('traffic-monitor'))
  await cable.plugIn()
  const [id, direct] = [labId('traffic-monitor'), scene.baseUrl('traffic-monitor')]
  await scene.register(id, 'traffic-monitor', cable.origin, direct)
  try {
    cable.cut()
    const run = await checked({ retry: { max_attempts: 4 } })
    const error = await scene.untilFact(run, 'error')
    expect(error.description).toMatch(/ECONNRE|could not|cannot|again|closed|reach/i)
    cable.mend()
    expect(await ended(run)).toBe('success')
  } finally {
    await scene.register(id, 'traffic-monitor', direct)
    await cable.remove()
  }
})

it('asks a person what became of a change whose agent died in the middle of it', async () => {
  await scene.fail('mailer', { kind: 'none' })
  const before = readFileSync(path.join(scene.at.folder, 'lab', 'mailer', 'sent-mail.log'), 'utf8')
  const version = await scene.workflow(oneStep('mail-lost', 'mailer', 'send-mail', { reversible: false }))
  const run = await scene.start(version)
  await scene.until(run, 'The checkpoint', ({ checkpoints }) => (checkpoints.size > 0 ? true : undefined))
  await scene.killLab()
  const outcome = await scene.until(run, 'An end or a question', (seen) => {
    if (seen.state.status === 'ended') return 'ended'
    return [...seen.approvals.values()].find(({ state }) => state.status === 'open')?.kind
  })
  await scene.startLab()
  const sent = readFileSync(path.join(scene.at.folder, 'lab', 'mailer', 'sent-mail.log'), 'utf8')
  // Killed before or after it was sent: never twice, and never silently.
  expect(sent.length - before.length).toBeLessThan(200)
  expect(['ended', 'outcome_unknown', 'irreversible_failed']).toContain(outcome)
})
