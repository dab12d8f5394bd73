/* `holdpoint rollback`, as a user types it, beside a console whose agents are the lab's: each a process that is asked. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { labId } from '@/examples/lab/lab-agent'
import type { RunId } from '@/lib/base/ids'
import { type LabName, LabScene } from '@/lib/server/testing/lab-scene'
import type { RollbackPlanView, RollbackView } from '@/lib/view/rollback-wire'

const root = path.resolve(import.meta.dirname, '../..')
const timeout = 120_000
let scene: LabScene
beforeAll(async () => {
  scene = await LabScene.open()
}, timeout)
afterAll(() => scene.close())

function holdpoint(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [path.join(root, 'lib/cli/holdpoint.mjs'), ...args, '--data', scene.at.folder],
      { timeout },
      (error, out, err) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, out, err }),
    )
  })
}

const node = (id: string, label: string, agent: LabName, operation: string, more: object = {}) => ({
  ...{ id, label, hitl_required: false, agent: labId(agent), agent_config: { operation, ...more } },
})

/** weigh ▶ classify ▶ tell; only tell is for good. */
async function done(share: number): Promise<RunId> {
  const text = {
    wf_id: 'three-agents',
    description: 'Weighs the transits, classifies the traffic and tells the NOC',
    nodes: [
      node('weigh', 'Weigh the transits', 'dns-steering', 'shift-weight', { input: { transit_b: share } }),
      node('classify', 'Classify the traffic', 'classifier', 'classify-traffic'),
      {
        ...node('tell', 'Tell the NOC', 'mailer', 'send-mail', {
          input: { to: 'noc@example.com', subject: 'Moved' },
        }),
        reversible: false,
      },
    ],
    edges: [
      { from: 'weigh', to: 'classify' },
      { from: 'classify', to: 'tell' },
    ],
  }
  const run = await scene.start(await scene.workflow(JSON.stringify(text)))
  await scene.untilFact(run, 'workflow_complete')
  return run
}

const weights = () => scene.stateOf('dns-steering', 'weights.json').toString()

describe('holdpoint rollback', () => {
  it('shows the plan, and does nothing without --yes', { timeout }, async () => {
    const run = await done(40)
    const before = weights()
    const tokens = await scene.look(run, ({ seq }) => seq)
    const planned = await holdpoint('rollback', run, '--node', 'weigh', '--scope', 'sub-dag', '--plan')
    expect(planned.code, planned.err).toBe(0)
    const lines = planned.out.trimEnd().split('\n')
    expect(lines[0]).toMatch(
      new RegExp(`^Rollback of ${run} to before weigh, this step and all that followed: Restores 2 steps`),
    )
    expect(lines.slice(1, 4)).toEqual([
      expect.stringMatching(/^ {2}1\. Cannot be taken back: Tell the NOC \(tell\), by mailer\. /),
      expect.stringMatching(/^ {2}2\. Taken back: Classify the traffic \(classify\), by classifier\. /),
      expect.stringMatching(/^ {2}3\. Taken back: Weigh the transits \(weigh\), by dns-steering\. /),
    ])
    const asked = await holdpoint('rollback', run, '--node', 'weigh', '--scope', 'sub-dag', '--json')
    const { digest } = JSON.parse(asked.out) as RollbackPlanView
    expect(lines.at(-1)).toBe(`Digest of this plan: ${digest}`)
    expect([asked.code, asked.err]).toEqual([
      2,
      `holdpoint: nothing was done; to execute exactly this, add --yes --digest ${digest}\n`,
    ])
    const both = await holdpoint('rollback', run, '--node', 'weigh', '--plan', '--yes')
    expect(both).toEqual({
      code: 2,
      out: '',
      err: 'holdpoint: nothing was done: --plan only looks, --yes executes; say one of the two\n',
    })
    const other = await holdpoint('rollback', run, '--node', 'weigh', '--yes', '--digest', 'another')
    expect([other.code, other.err]).toEqual([5, expect.stringContaining('so nothing was done')])
    expect([weights(), await scene.look(run, ({ seq }) => seq)]).toEqual([before, tokens])
  })

  it('executes it, and tells of votes and results until the end', { timeout }, async () => {
    const before = weights()
    const run = await done(30)
    expect(weights()).not.toBe(before)
    const args = [
      '--node',
      'weigh',
      '--scope',
      'sub-dag',
      '--reason',
      'INC-2214',
      '--deadline',
      '300',
      '--yes',
      '--json',
    ]
    const { code, out, err } = await holdpoint('rollback', run, ...args)
    const view = JSON.parse(out) as RollbackView
    expect(view.by).toMatch(/^person:.+\+cli$/)
    expect(view).toMatchObject({ run, scope: 'sub_dag', node: 'weigh', reason: 'INC-2214', phase: 'over' })
    expect(view.deadlineAt - view.askedAt).toBe(300_000)
    expect(weights()).toBe(before)
    for (const line of [
      /^Classify the traffic \(classify\): classifier can take it back$/m,
      /^Weigh the transits \(weigh\): dns-steering can take it back$/m,
      /^It is executed/m,
      /^Weigh the transits \(weigh\): being restored …$/m,
      /^Weigh the transits \(weigh\): completed\. /m,
    ])
      expect(err).toMatch(line)
    expect(err).not.toContain('(tell): being')
    // What was sent is sent: it was said before, and counts.
    expect([view.status, code]).toEqual(['partial', 5])
    expect(err).toContain(`holdpoint: ${view.id} partial`)
  })

  it('ends with 7 where it asks a person, and goes on when that is answered', { timeout }, async () => {
    const run = await done(60)
    const later = await done(70)
    const args = ['--node', 'weigh', '--scope', 'sub-dag', '--yes']
    const { code, err } = await holdpoint('rollback', run, ...args)
    expect(err).toMatch(/^ {2}3\. Asks first: Weigh the transits \(weigh\), by dns-steering\. /m)
    expect(err).toMatch(/^Weigh the transits \(weigh\): dns-steering cannot take it back: /m)
    expect(err).toMatch(/^It asks operator: /m)
    expect(err).toMatch(/ waits for operator: answer \S+ in the console, and it goes on$/m)
    expect(code).toBe(7)
    const question = await scene.question(run, 'rollback_unprepared')
    await scene.answer(await scene.at.person('otto', 'operator'), question, 'abort')
    await scene.untilFact(run, 'rollback_result')
    expect(await scene.look(later, ({ state }) => state.status)).toBe('ended')
  })

  it('takes a whole run back only by that word', { timeout }, async () => {
    const text = {
      wf_id: 'waits',
      description: 'Waits for a person first',
      nodes: [
        node('weigh', 'Weigh the transits', 'dns-steering', 'shift-weight', { input: { transit_b: 20 } }),
        {
          ...node('classify', 'Classify the traffic', 'classifier', 'classify-traffic'),
          hitl_required: true,
        },
        node('again', 'Weigh them again', 'dns-steering', 'shift-weight', { input: { transit_b: 10 } }),
      ],
      edges: [
        { from: 'weigh', to: 'classify' },
        { from: 'classify', to: 'again' },
      ],
    }
    const run = await scene.start(await scene.workflow(JSON.stringify(text)))
    await scene.untilFact(run, 'approval_asked')
    const asked = await holdpoint('rollback', run, '--node', 'again', '--yes')
    expect([asked.code, asked.err.split('\n').at(-2)]).toEqual([
      2,
      'holdpoint: nothing was done: no less than the whole run would be taken back; say --scope full',
    ])
    expect(await scene.look(run, ({ rollbacks }) => rollbacks.size)).toBe(0)
    const { code } = await holdpoint('rollback', run, '--node', 'again', '--yes', '--scope', 'full')
    expect(code).toBe(0)
  })

  it('says that nobody works on the folder, and may be left meanwhile', { timeout }, async () => {
    const run = await done(80)
    await scene.atRest(async () => {
      const program = path.join(root, 'lib/cli/holdpoint.mjs')
      const args = ['rollback', run, '--node', 'weigh', '--scope', 'sub-dag', '--yes']
      const child = spawn(process.execPath, [program, ...args, '--data', scene.at.folder])
      let err = ''
      child.stderr.on('data', (chunk: Buffer) => {
        err += chunk
        if (String(chunk).includes('Nobody works on this data folder')) child.kill('SIGINT')
      })
      const [code] = await once(child, 'exit')
      expect([code, err]).toEqual([7, expect.stringContaining('goes on without this command')])
    })
    await scene.untilFact(run, 'rollback_result')
  })

  it('says what it does not know, or may not do', { timeout }, async () => {
    const run = await done(50)
    const unknown = await holdpoint('rollback', run, '--node', 'nothing', '--plan')
    expect([unknown.code, unknown.err]).toEqual([
      5,
      'holdpoint: The workflow of this run has no node "nothing" (not_found)\n',
    ])
    expect((await holdpoint('rollback', run)).code).toBe(2)
    expect((await holdpoint('rollback', run, '--node', 'weigh', '--scope', 'half')).code).toBe(2)
    const locked = await holdpoint('rollback', 'run_x', '--node', 'weigh')
    expect([locked.code, locked.err]).toEqual([5, expect.stringContaining('No run is known as "run_x"')])
  })
})
