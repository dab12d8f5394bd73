/* `holdpoint test` and `holdpoint plan`, as a user types them. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')

let folder: string
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'holdpoint-agentd-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function holdpoint(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [path.join(root, 'lib/cli/holdpoint.mjs'), ...args],
      { cwd: folder },
      (error, out, err) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, out, err }),
    )
  })
}

function file(name: string, text: string): string {
  const place = path.join(folder, name)
  mkdirSync(path.dirname(place), { recursive: true })
  writeFileSync(place, text)
  return place
}

const workflow = `name = "two"
[[start_nodes]]
name = "main"
source = "manual"
entry_node = "a"
[[nodes]]
id = "a"
type = "merge"
[[nodes]]
id = "b"
type = "terminate"
[[edges]]
from = "a"
to = "b"
`

describe('holdpoint test', () => {
  beforeAll(() => {
    for (const name of ['good', 'bad', 'misspelled']) file(`all/${name}/workflow.toml`, workflow)
    file('all/good/fixture.toml', 'start = "main"\n[expected]\npath = ["a"]\nstatus = "completed"\n')
    file('all/bad/fixture.toml', 'start = "main"\n[expected]\nlast_node = "a"\n')
    file('all/misspelled/fixture.toml', 'start = "main"\n[expectd]\nstatus = "completed"\n')
  })

  it('prints what differs, a summary, and ends with 5', async () => {
    const { code, out } = await holdpoint('test', 'all')
    expect(code).toBe(5)
    expect(out.trimEnd().split('\n').sort()).toEqual(
      [
        '1 passed, 2 failed',
        'pass  all/good',
        'FAIL  all/bad',
        '      last_node is b, expected a',
        'FAIL  all/misspelled',
        '      line 2: "expectd" is no member of a fixture',
      ].sort(),
    )
    expect(out.trimEnd().endsWith('1 passed, 2 failed')).toBe(true)
  })

  it('ends with 0 when all pass, and tells it as JSON', async () => {
    const { code, out } = await holdpoint('test', 'all/good', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      passed: 1,
      failed: 0,
      fixtures: [{ name: 'all/good', passed: true, trials: 1, differences: [] }],
    })
  })

  it.each([
    ['nowhere', 'There is no folder nowhere'],
    ['empty', 'there is no fixture in empty'],
  ])('a folder that is %s is a usage error', async (name, words) => {
    mkdirSync(path.join(folder, 'empty'), { recursive: true })
    const { code, err, out } = await holdpoint('test', name)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(words)
  })
})

describe('holdpoint plan', () => {
  let config: string
  beforeAll(() => {
    config = file(
      'config.toml',
      `[policy.fs]
write = ["notes/**"]

[[intelligence.backends]]
name = "planner"
provider = "scripted"
path = "answers.json"
`,
    )
    const answers = [workflow.replace('merge', 'marge'), workflow]
    file('answers.json', JSON.stringify({ answers }))
  })

  it('shows the steps with their consequences and the hash, writes the plan and runs nothing', async () => {
    const out = path.join(folder, 'plan.toml')
    const data = path.join(folder, 'data')
    const plan = await holdpoint(
      'plan',
      'Do two things',
      '--config',
      config,
      '--plan-out',
      out,
      '--data',
      data,
    )
    expect(plan).toMatchObject({ code: 0, err: expect.stringContaining('Nothing was run') })
    expect(plan.out).toContain('planned 2 times')
    expect(plan.out).toMatch(/^ {2}a {2}merge, only reads → b$/m)
    const hash = /^Hash (\S+)$/m.exec(plan.out)?.[1] ?? ''
    expect(readFileSync(out, 'utf8')).toContain('[policy.fs]')

    expect(readFileSync(out, 'utf8').split('\n')[0]).toBe(`# holdpoint plan ${hash}`)

    const unapproved = await holdpoint('run', out, '--data', data)
    expect(unapproved).toMatchObject({ code: 5, out: '' })
    expect(unapproved.err).toContain('is a plan that nobody has approved')
    expect(unapproved.err).toContain(`--approve-plan ${hash}`)

    const approved = await holdpoint('run', out, '--approve-plan', hash, '--data', data, '--json')
    expect(approved.code).toBe(0)
    writeFileSync(out, readFileSync(out, 'utf8').replace('notes/**', '/**'))
    const changed = await holdpoint('run', out, '--approve-plan', hash, '--data', data)
    expect(changed).toMatchObject({ code: 5, out: '' })
    expect(changed.err).toContain('nothing was run')
    const unread = await holdpoint('run', out, '--data', data)
    expect(unread).toMatchObject({
      code: 5,
      out: '',
      err: expect.stringContaining('changed since it was planned'),
    })
    // Taking the line out is its author's own act: the file is a workflow like any other then.
    const own = path.join(folder, 'own.toml')
    writeFileSync(own, readFileSync(out, 'utf8').replace(/^# holdpoint plan .*\n/, ''))
    expect((await holdpoint('run', own, '--data', data, '--json')).code).toBe(0)

    const again = await holdpoint('plan', 'x', '--config', config, '--plan-out', out, '--data', data)
    expect(again).toMatchObject({ code: 2, err: expect.stringContaining('is there already') })
  })

  it('takes a configuration that cannot be read as a mistake of the command line', async () => {
    const broken = path.join(folder, 'broken.toml')
    const args = ['--config', broken, '--data', path.join(folder, 'data')]
    writeFileSync(broken, 'name = "plan\n')
    expect(await holdpoint('plan', 'x', ...args)).toMatchObject({
      code: 2,
      err: expect.stringContaining('The configuration cannot be read: line 1'),
    })
    writeFileSync(broken, '[budget]\nmax_steps = "many"\n')
    expect(await holdpoint('plan', 'x', ...args)).toMatchObject({
      code: 2,
      err: expect.stringContaining('The configuration is not right'),
    })
    expect(await holdpoint('plan', ' ', '--data', path.join(folder, 'data'))).toMatchObject({ code: 2 })
  })

  it('says which models there are, and that a plan without a model is none', async () => {
    const args = ['--config', config, '--backend', 'gpt', '--data', path.join(folder, 'data')]
    const { code, err } = await holdpoint('plan', 'x', ...args)
    expect(code).toBe(5)
    expect(err).toContain('There is no model backend "gpt": there are planner')
  })
})
