/* `holdpoint fork`, as a user types it. */
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ForkPlanView } from '@/lib/view/fork-wire'
import { planWords } from './fork-command'

const root = path.resolve(import.meta.dirname, '../..')

let folder: string
beforeAll(() => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'holdpoint-fork-')))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function holdpoint(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [path.join(root, 'lib/cli/holdpoint.mjs'), ...args, '--data', path.join(folder, 'data')],
      { cwd: folder },
      (error, out, err) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, out, err }),
    )
  })
}

const workflow = `name = "notes"
[[start_nodes]]
name = "main"
source = "manual"
entry_node = "greet"
[[nodes]]
id = "greet"
type = "template_render"
template = "Hello {{name}}"
input_from = "trigger"
[[nodes]]
id = "write"
type = "write_file"
path_from = "trigger.path"
content_from = "greet.rendered"
[[edges]]
from = "greet"
to = "write"
`

it('tells what would happen again, and begins a dry run unless it is for real', async () => {
  const note = path.join(folder, 'note.txt')
  const input = (name: string) => JSON.stringify({ name, path: note })
  writeFileSync(path.join(folder, 'notes.toml'), workflow)
  const first = await holdpoint('run', 'notes.toml', '--input', input('Ada'), '--json')
  expect(first.code, first.err).toBe(0)
  const { run_id: run } = JSON.parse(first.out)
  expect(readFileSync(note, 'utf8')).toBe('Hello Ada')
  rmSync(note)

  const planned = await holdpoint('fork', run, '--at', '1', '--plan', '--json')
  expect(planned.code, planned.err).toBe(0)
  expect(JSON.parse(planned.out)).toMatchObject({
    carried: 0,
    next: [{ node: 'greet' }],
    effects: [{ node: 'write' }],
  })
  expect(planned.err).toContain('it goes on with greet.\nNothing of this happens in a dry run:\n  write: ')

  const dry = await holdpoint('fork', run, '--at', '1', '--json')
  expect(dry.code, dry.err).toBe(0)
  expect(JSON.parse(dry.out)).toMatchObject({ status: 'completed' })
  expect(existsSync(note)).toBe(false)

  const real = await holdpoint('fork', run, '--at', '1', '--for-real', '--input', input('Grace'), '--json')
  expect(real.code, real.err).toBe(0)
  expect(real.err).toContain('This may happen again:')
  expect(readFileSync(note, 'utf8')).toBe('Hello Grace')

  const beyond = await holdpoint('fork', run, '--at', '999')
  expect([beyond.code, beyond.err]).toEqual([5, expect.stringContaining('cannot be forked at token 999')])
  const unknown = await holdpoint('fork', run, '--at', '1', '--artifact', 'note=x')
  expect([unknown.code, unknown.err]).toEqual([
    5,
    expect.stringContaining('The workflow declares no artifact "note"; it has none'),
  ])
  expect((await holdpoint('fork', run)).code).toBe(2)
  expect((await holdpoint('fork', run, '--at', '1', '--artifact', 'note')).err).toContain(
    '--artifact is "note"; expected name=value, or name=@file',
  )
})

it('says a plan in words', () => {
  const step = (node: string, visit = 1) => ({ node, label: node, visit })
  const plan = {
    run: 'run_1',
    at: 23,
    carried: 1,
    takenBack: [step('plan')],
    next: [step('implement', 2)],
    effects: [
      {
        ...step('push', 2),
        sentence: 'Pushes to main',
        consequence: 'irreversible',
        happened: 'rolled_back',
      },
    ],
    moreEffects: false,
  } as unknown as ForkPlanView
  expect(planWords(plan, false)).toBe(
    [
      'Fork of run_1 at token 23: 1 step taken as done, it goes on with implement (visit 2).',
      'Taken back since, so its effect is not there any more: plan',
      'This may happen again:',
      '  push (visit 2): Pushes to main, cannot be undone (taken back since)',
    ].join('\n'),
  )
  expect(planWords({ ...plan, next: [], takenBack: [], effects: [] }, true)).toBe(
    'Fork of run_1 at token 23: 1 step taken as done, it ends at once.\nThe original did nothing after this that changes anything.',
  )
})
