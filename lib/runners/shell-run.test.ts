import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '@/lib/base/json'
import type { ToolCall } from '@/lib/policy/tool-call'
import { actionFor, described, effectsWith, failureOf, nodeOf, runnerFor } from './fixtures'
import { EffectFailed, type Effects } from './runner'

let home: string

beforeEach(() => {
  home = realpathSync(mkdtempSync(path.join(tmpdir(), 'holdpoint-shell-')))
})

afterEach(() => rmSync(home, { recursive: true, force: true }))

const runner = runnerFor('shell_run')
let attempts = 0

function at(more: Partial<Effects> = {}): Effects {
  attempts += 1
  return effectsWith({
    installationRoots: [home],
    idempotencyKey: `run_${process.pid}/n1/1/${attempts}`,
    now: () => performance.now(),
    ...more,
  })
}

/** A program of the test's own. */
function script(name: string, ...lines: string[]): string {
  const file = path.join(home, name)
  writeFileSync(file, ['#!/bin/sh', ...lines, ''].join('\n'))
  chmodSync(file, 0o755)
  return file
}

async function ran(config: JsonObject, values: Record<string, Json> = {}, effects = at()) {
  const action = await actionFor(nodeOf('shell_run', config), effects, values)
  const { output, label } = await runner.perform(action, effects)
  return { ...(output as JsonObject), label } as JsonObject & {
    stdout: string
    stderr: string
    label?: string
  }
}

/** Processes that run with a word in their command line. */
function running(word: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const isDead = /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
        return !isDead && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(word)
      } catch {
        return false
      }
    })
}

describe('a command', () => {
  test('is run with its arguments as they are', async () => {
    const echo = realpathSync('/bin/echo')
    expect(await ran({ command: '/bin/echo', args: ['a b', '$HOME', '; ls', '*'] })).toEqual({
      command: echo,
      args: ['a b', '$HOME', '; ls', '*'],
      exit_code: 0,
      signal: null,
      stdout: 'a b $HOME ; ls *\n',
      stderr: '',
      truncated: false,
      timed_out: false,
      duration_ms: expect.any(Number),
      label: undefined,
    })
  })

  test('takes its arguments from the run, and none where there are none', async () => {
    const config = { command: '/bin/echo', args_from: 'trigger.args' }
    expect((await ran(config, { 'trigger.args': ['hello', 'world'] })).stdout).toBe('hello world\n')
    expect((await ran(config)).args).toEqual([])
    expect((await ran(config, { 'trigger.args': null })).args).toEqual([])
    const mixed = await failureOf(ran(config, { 'trigger.args': ['ok', 42] }))
    expect(mixed.code).toBe('value_wrong')
    expect(mixed.message).toContain('Each argument must be a text')
    const text = await failureOf(ran(config, { 'trigger.args': '-rf /' }))
    expect(text.message).toContain('A list of texts was expected')
  })

  test('sees two variables and nothing of ours', async () => {
    process.env.SHELL_RUN_SECRET = 'leak'
    const { stdout } = await ran({ command: '/usr/bin/env' })
    delete process.env.SHELL_RUN_SECRET
    expect(stdout.trim().split('\n').sort()).toEqual([
      'LANG=C.UTF-8',
      'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    ])
  })

  test('starts in the installation’s first folder, with nothing to read', async () => {
    expect((await ran({ command: script('where', 'pwd; cat') })).stdout).toBe(`${home}\n`)
  })

  test('that ends badly takes the edge "error"', async () => {
    expect(await ran({ command: script('bad', 'echo why >&2', 'exit 3') })).toMatchObject({
      exit_code: 3,
      signal: null,
      stderr: 'why\n',
      timed_out: false,
      label: 'error',
    })
    expect(await ran({ command: script('killed', 'kill -9 $$') })).toMatchObject({
      exit_code: -1,
      signal: 9,
      label: 'error',
    })
  })

  test('may write more than is kept', async () => {
    const command = script('chatty', 'head -c 300000 /dev/zero | tr "\\0" x', 'printf é >&2')
    const said = await ran({ command })
    expect(said).toMatchObject({ exit_code: 0, truncated: true, stderr: 'é', label: undefined })
    expect(said.stdout).toBe('x'.repeat(65_536))
  })

  test('may open its output by name, as scripts do', async () => {
    const command = script(
      'named',
      'echo out > /dev/stdout',
      'echo both | tee /dev/stderr',
      'echo err > /dev/stderr',
    )
    expect(await ran({ command })).toMatchObject({
      exit_code: 0,
      stdout: 'out\nboth\n',
      stderr: 'both\nerr\n',
    })
  })

  test('is found where it really lies, and the policy is asked about that place', async () => {
    const asked: ToolCall[] = []
    const link = path.join(home, 'innocent')
    symlinkSync('/bin/echo', link)
    const effects = at({ allow: async (call) => void asked.push(call) })
    const action = await actionFor(nodeOf('shell_run', { command: link, args: ['hi'] }), effects)
    const real = realpathSync('/bin/echo')
    expect(action).toMatchObject({ target: real, sentence: `Run ${real} hi`, consequence: 'irreversible' })
    expect(action.do).toEqual({ command: real, args: ['hi'], timeout_secs: 30 })
    await runner.perform(action, effects)
    expect(asked).toEqual(Array(2).fill({ tool: 'shell.run', command: real, args: ['hi'] }))
  })

  test('that is denied is not run', async () => {
    const marker = path.join(home, 'ran')
    const command = script('touch', `touch ${marker}`)
    const action = await actionFor(nodeOf('shell_run', { command }), at())
    const denied = at({
      allow: async (call) => {
        throw new EffectFailed('policy_denied', `${call.tool} denied on it: no rule names it`)
      },
    })
    expect((await failureOf(runner.perform(action, denied))).code).toBe('policy_denied')
    expect((await failureOf(described(nodeOf('shell_run', { command }), denied))).code).toBe('policy_denied')
    expect(existsSync(marker)).toBe(false)
  })

  test('must be named by its absolute path and be a program', async () => {
    const relative = await failureOf(ran({ command: 'true' }))
    expect(relative).toMatchObject({ code: 'config_invalid' })
    expect(relative.message).toContain('An absolute path was expected')
    const missing = await failureOf(ran({ command: '/no/such/program' }))
    expect(missing.message).toBe(
      'The command /no/such/program cannot be run: it does not exist, or what it needs to start does not.',
    )
    const folder = await failureOf(ran({ command: home }))
    expect(folder.message).toContain('it is no file')
    writeFileSync(path.join(home, 'plain'), 'text')
    const plain = await failureOf(ran({ command: path.join(home, 'plain') }))
    expect(plain).toMatchObject({ code: 'command_not_runnable', retriable: false })
  })

  test('whose interpreter is missing was never begun', async () => {
    const file = script('orphan')
    writeFileSync(file, '#!/no/such/interpreter\n')
    const failure = await failureOf(ran({ command: file }))
    expect(failure).toMatchObject({ code: 'command_not_runnable', outcomeUnknown: false })
    expect(failure.message).toContain('what it needs to start does not')
  })

  test('leaves no pipe open, whether it began or not', async () => {
    const open = () => readdirSync('/proc/self/fd').length
    await ran({ command: '/bin/true' })
    const before = open()
    for (let round = 0; round < 3; round++) {
      await ran({ command: '/bin/true' })
      await failureOf(ran({ command: '/bin/true' }, {}, at({ installationRoots: ['/no/such/folder'] })))
    }
    await expect.poll(open).toBeLessThanOrEqual(before)
  })

  test('is not run in a dry run', async () => {
    const marker = path.join(home, 'ran')
    const command = script('touch', `touch ${marker}`)
    const { label, ...output } = await ran({ command, args: ['x'] }, {}, at({ dryRun: true }))
    expect(output).toEqual({ command, args: ['x'], dry_run: true })
    expect(existsSync(marker)).toBe(false)
  })

  test('keeps to the processor time of its budget', async () => {
    const command = script('busy', 'while :; do :; done')
    expect(await ran({ command }, {}, at({ childLimits: { cpuS: 1 } }))).toMatchObject({
      exit_code: -1,
      timed_out: false,
      label: 'error',
    })
  })

  test('keeps to the memory of its budget', async () => {
    const command = script('greedy', 'exec head -c 200000000 /dev/zero | tail -c 200000000 >/dev/null')
    expect(await ran({ command }, {}, at({ childLimits: { memoryMb: 64 } }))).toMatchObject({
      label: 'error',
    })
    expect(await ran({ command: '/bin/true' }, {}, at({ childLimits: { memoryMb: 64 } }))).toMatchObject({
      exit_code: 0,
    })
  })
})

describe('nothing a command started is left running', () => {
  // Each test's processes carry a word of their own in their command lines.
  const word = () => `holdpoint-left-${process.pid}-${attempts}`

  test('when its time is up and it ignores being asked', async () => {
    const mark = word()
    const command = script(
      'stubborn',
      `trap '' TERM INT HUP`,
      'echo begun',
      `sh -c 'trap "" TERM; sleep 600; : ${mark}' &`,
      `sh -c 'sleep 600; : ${mark}'`,
    )
    expect(await ran({ command, timeout_secs: 1 })).toMatchObject({
      stdout: 'begun\n',
      exit_code: -1,
      signal: 9,
      timed_out: true,
      label: 'error',
    })
    expect(running(mark)).toEqual([])
  })

  test('when a child left its group for a session of its own', async () => {
    const mark = word()
    const command = script('session', `setsid sh -c 'sleep 600; : ${mark}' &`, 'sleep 600')
    expect(await ran({ command, timeout_secs: 1 })).toMatchObject({ timed_out: true })
    expect(running(mark)).toEqual([])
  })

  test('when a child became a daemon: no parent, no group, no pipes', async () => {
    const mark = word()
    const ready = path.join(home, 'ready')
    const command = script(
      'daemon',
      `setsid sh -c 'setsid sh -c "echo > ${ready}; sleep 600; : ${mark}" </dev/null >/dev/null 2>&1 & exit' </dev/null >/dev/null 2>&1`,
      `while [ ! -e ${ready} ]; do sleep 0.05; done`,
      'echo done',
    )
    expect(await ran({ command })).toMatchObject({ exit_code: 0, stdout: 'done\n', label: undefined })
    expect(existsSync(ready)).toBe(true)
    expect(running(mark)).toEqual([])
  })

  test('when it is done and left something behind that holds its output', async () => {
    const mark = word()
    const command = script('leaves', `sh -c 'sleep 600; : ${mark}' &`, 'echo done')
    expect(await ran({ command })).toMatchObject({ exit_code: 0, stdout: 'done\n', timed_out: false })
    expect(running(mark)).toEqual([])
  })

  test('when it keeps forking', async () => {
    const mark = word()
    const command = script(
      'forks',
      `for i in 1 2 3 4 5 6; do (while :; do setsid sh -c 'sleep 0.2; : ${mark}' & sleep 0.05; done) & done`,
      'wait',
    )
    expect(await ran({ command, timeout_secs: 1 })).toMatchObject({ timed_out: true })
    expect(running(mark)).toEqual([])
    expect(running(command)).toEqual([])
  })

  test('when the run is given up', async () => {
    const mark = word()
    const stop = new AbortController()
    const ready = path.join(home, 'ready')
    const command = script('long', `echo > ${ready}`, `sh -c 'sleep 600; : ${mark}'`)
    const ending = failureOf(ran({ command }, {}, at({ signal: stop.signal })))
    await expect.poll(() => existsSync(ready)).toBe(true)
    stop.abort()
    const failure = await ending
    expect(failure).toMatchObject({ code: 'effect_timeout', errorType: 'timeout', outcomeUnknown: true })
    expect(failure.message).toContain('what it did until then is not known')
    expect(running(mark)).toEqual([])
    const before = await failureOf(ran({ command }, {}, at({ signal: AbortSignal.abort() })))
    expect(before).toMatchObject({ code: 'effect_timeout', outcomeUnknown: false })
  })

  test('and nobody else’s processes are touched', async () => {
    const bystander = execFileSync('/bin/sh', ['-c', 'sleep 30 >/dev/null 2>&1 & echo $!'], {
      encoding: 'utf8',
    })
    const pid = Number(bystander)
    await ran({ command: script('quick', 'sleep 5'), timeout_secs: 1 })
    expect(() => process.kill(pid, 0)).not.toThrow()
    process.kill(pid)
  })
})

describe('taking a command back', () => {
  const back = {
    id: 'rb_1',
    reason: 'test',
    checkpointId: 'c1',
    requestToken: 't',
    requestJti: 'j',
    deadlineAt: 1e15,
    wid: 'w',
    scope: 'single' as const,
  }

  async function undone(config: JsonObject, output: Json | undefined, effects = at()) {
    const action = await actionFor(nodeOf('shell_run', config), effects)
    const snapshot = await runner.snapshot?.(action, effects, 'c1')
    if (!snapshot || !runner.undo) throw new Error('No snapshot')
    return { action, undo: await runner.undo(action, snapshot, effects, { ...back, output }) }
  }

  test('runs the declared command with what was recorded', async () => {
    const made = path.join(home, 'made')
    const command = script('make', 'echo made > "$1"; echo "$1"')
    const remove = script('remove', 'rm "$1" && echo "$2" > "$1.log"')
    const config = {
      command,
      args: [made],
      compensate: {
        command: remove,
        args: ['{{request.args.0}}', 'code {{response.exit_code}}; {{response.args.0}}'],
      },
    }
    const { label, ...output } = await ran(config)
    expect(existsSync(made)).toBe(true)
    const { action, undo } = await undone(config, output)
    expect(action).toMatchObject({ consequence: 'reversible', undo: 'compensate' })
    expect(undo.description).toContain('which ended well')
    expect(existsSync(made)).toBe(false)
    expect(readFileSync(`${made}.log`, 'utf8')).toBe(`code 0; ${made}\n`)
  })

  test('refuses what is not there, and a value that would become an option', async () => {
    const compensate = (arg: string) => ({
      command: '/bin/true',
      compensate: { command: '/bin/true', args: [arg] },
    })
    const missing = await failureOf(undone(compensate('{{response.stdout}}'), undefined))
    expect(missing).toMatchObject({ code: 'value_missing' })
    expect(missing.message).toContain('never recorded')
    const option = await failureOf(undone(compensate('{{response.stdout}}'), { stdout: '--force' }))
    expect(option.message).toContain('would become an option')
    const fine = await undone(compensate('--id={{response.stdout}}'), { stdout: '-7' })
    expect(fine.undo.description).toContain('--id=-7')
  })

  test('says when the command fails, and that nothing is declared', async () => {
    const config = { command: '/bin/true', compensate: { command: script('no', 'exit 4') } }
    const failed = await failureOf(undone(config, {}))
    expect(failed).toMatchObject({ code: 'compensation_failed' })
    expect(failed.message).toContain('ended with exit code 4')
    expect((await failureOf(undone({ command: '/bin/true' }, {}))).code).toBe('nothing_declared')
  })

  test('is asked of the policy before anything is done', async () => {
    const allow = async (call: ToolCall) => {
      if (call.tool === 'shell.run' && call.command === realpathSync('/bin/false')) {
        throw new EffectFailed('policy_denied', 'shell.run denied on /bin/false')
      }
    }
    const node = nodeOf('shell_run', { command: '/bin/true', compensate: { command: '/bin/false' } })
    expect((await failureOf(described(node, at({ allow })))).code).toBe('policy_denied')
  })
})
