/** Commands that will not go, and workers that die under them: all they started is ended, and none is run twice unasked. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, watch } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Json } from '@/lib/base/json'
import { edge, node, running, Scene, workflow } from './scene'

let scene: Scene
beforeEach(async () => {
  scene = await Scene.open()
})
afterEach(async () => {
  expect(await scene.close()).toEqual([])
})

const policy = '[policy.shell]\ncommands = ["*"]\n'
const shell = (timeoutS: number) =>
  workflow(
    'go',
    node(
      'go',
      'shell_run',
      `command = "${process.execPath}"`,
      'args_from = "trigger.args"',
      `timeout_secs = ${timeoutS}`,
    ),
  ) + policy

/** A program that names the scene in its command line, so that what is left of it is found. */
const program = async (text: string): Promise<Json> => [await scene.file('program.cjs', text)]

describe('a command', () => {
  it.each<[string, string]>([
    [
      'ignores every signal it may',
      `for (const s of ['SIGTERM','SIGINT','SIGHUP']) process.on(s, () => {}); setInterval(() => {}, 1e6)`,
    ],
    [
      'leaves its group and its session, twice over',
      `const { spawn } = require('node:child_process')
       const deep = Number(process.argv[2] ?? 0)
       process.on('SIGTERM', () => {})
       if (deep < 3) spawn(process.execPath, [__filename, String(deep + 1)], { detached: true, stdio: 'ignore' }).unref()
       setInterval(() => {}, 1e6)`,
    ],
    [
      'ends itself and leaves a child behind that holds its output',
      `const { spawn } = require('node:child_process')
       if (process.argv[2]) setInterval(() => {}, 1e6)
       else { spawn(process.execPath, [__filename, 'x'], { detached: true, stdio: ['ignore', 'inherit', 'inherit'] }).unref(); setTimeout(() => process.exit(0), 50) }`,
    ],
    [
      'forks without end',
      `const { spawn } = require('node:child_process')
       setInterval(() => { for (let i = 0; i < 2; i++) spawn('/bin/sleep', ['1000', '${'x'}'].slice(0, 1), { detached: true, stdio: 'ignore' }).unref() }, 20)`,
    ],
  ])('that %s is ended in time with all it started', async (_name, text) => {
    const before = running('/bin/sleep').length
    const outcome = await scene.served(shell(1), { input: { args: await program(text) } })
    expect(outcome.status).toBe('completed')
    expect(running(scene.folder)).toEqual([])
    expect(running('/bin/sleep').length).toBe(before)
  })

  it('that writes without end is read to a bound', async () => {
    const args = await program(
      `const w = () => { while (process.stdout.write('x'.repeat(65536))); process.stdout.once('drain', w) }; w()`,
    )
    const { status, finalValue } = await scene.served(shell(1), { input: { args } })
    expect(status).toBe('completed')
    const { stdout, truncated, timed_out } = finalValue as {
      stdout: string
      truncated: boolean
      timed_out: boolean
    }
    expect({ length: stdout.length, truncated, timed_out }).toEqual({
      length: 65_536,
      truncated: true,
      timed_out: true,
    })
  })

  it('knows nothing of the environment of the installation', async () => {
    scene.variable('HOSTILE_TOKEN', 'tok-hunter2')
    const args = await program(`console.log(JSON.stringify(process.env))`)
    const { finalValue } = await scene.served(shell(5), { input: { args } })
    expect(Object.keys(JSON.parse((finalValue as { stdout: string }).stdout)).sort()).toEqual([
      'LANG',
      'PATH',
    ])
  })

  it('that no list names is not run, whatever a symlink calls it', async () => {
    await scene.file('ran', '')
    const { symlink } = await import('node:fs/promises')
    const link = path.join(scene.folder, 'allowed')
    await symlink('/bin/sh', link)
    const named =
      workflow('go', node('go', 'shell_run', `command = "${link}"`, 'args_from = "trigger.args"')) +
      `[policy.shell]\ncommands = ["${link}"]\n`
    const outcome = await scene.served(named, { input: { args: ['-c', 'true'] } })
    expect(outcome.status).toBe('errored')
    expect(outcome.reason).toContain('shell.run denied on ')
    const silent = await scene.served(named.split('[policy')[0] ?? '', { input: {} })
    expect(silent.reason).toContain(
      'on a server the workflow names it first: its policy must list it under shell.commands',
    )
  })
})

/** `holdpoint run` as a process of its own, killed the hard way. */
async function alone(
  ...args: string[]
): Promise<{ child: ChildProcess; over: Promise<{ code: number | null; out: string; err: string }> }> {
  const main = path.resolve(import.meta.dirname, '../../cli/holdpoint.ts')
  const child = spawn(
    process.execPath,
    [
      '--import',
      'tsx',
      '-e',
      `import(${JSON.stringify(main)}).then(async ({ main }) => { process.exitCode = await main(process.argv.slice(1)) })`,
      '--',
      ...args,
    ],
    { cwd: path.resolve(import.meta.dirname, '../../..'), stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let [out, err] = ['', '']
  child.stdout?.on('data', (chunk) => {
    out += chunk
  })
  child.stderr?.on('data', (chunk) => {
    err += chunk
  })
  const over = new Promise<{ code: number | null; out: string; err: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, out, err })),
  )
  return { child, over }
}

/** Resolves when a file of that name appears in the folder. */
function appears(folder: string, name: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(folder, (_event, found) => {
      if (found !== name) return
      watcher.close()
      resolve()
    })
    scene.atEnd(() => watcher.close())
  })
}

describe('a worker that is killed while a command runs', () => {
  it('leaves a record of the step; whoever goes on asks a person, and runs nothing a second time', async () => {
    const note = path.join(scene.folder, 'note')
    const [script] = (await program(
      `require('node:fs').appendFileSync(${JSON.stringify(note)}, process.pid + '\\n'); process.on('SIGTERM', () => {}); setInterval(() => {}, 1e6)`,
    )) as [string]
    const text = shell(60) + node('after', 'terminate') + edge('go', 'after')
    const file = await scene.file('authored/hostile.toml', text)
    const begun = appears(scene.folder, 'note')
    const { child, over } = await alone(
      'run',
      file,
      '--data',
      scene.dataDir,
      '--input',
      JSON.stringify({ args: [script] }),
    )
    await Promise.race([begun, over])
    child.kill('SIGKILL')
    const { err } = await over
    expect(existsSync(note), err).toBe(true)
    const house = await scene.house()
    const { items } = await house.store.runs.list({}, { limit: 10 })
    expect(items).toHaveLength(1)
    const owner = items[0]?.lease?.owner ?? ''
    expect(owner).toMatch(/^cli \d+ \w{8}$/)
    await house.store.leases.releaseAllOf(owner)
    const runId = items[0]?.runId ?? ''
    const again = await scene.alone('', { resume: runId })
    expect(again).toMatchObject({ status: 'paused', lastNode: 'go' })
    expect(again.reason).toMatch(/never silently done twice/)
    expect(again.waitsFor).toEqual([expect.stringMatching(/to decide: .*Run/)])
    expect(await scene.alone('', { resume: runId })).toMatchObject({ status: 'paused' })
    expect(readFileSync(note, 'utf8').trim().split('\n')).toHaveLength(1)
    expect(running(scene.folder)).toEqual([])
  })
})
