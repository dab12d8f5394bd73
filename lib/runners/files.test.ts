import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hashJson } from '@/lib/base/hash'
import type { ToolCall } from '@/lib/policy/tool-call'
import type { Root } from '@/lib/workflow/graph'
import { writeWhole } from './file-state'
import { actionFor, described, effectsWith, failureOf, nodeOf, runnerFor } from './fixtures'
import { Folder } from './folder'
import { locate } from './place'
import {
  type Action,
  EffectFailed,
  type Effects,
  type SeenState,
  type Snapshot,
  type UndoRequest,
} from './runner'

let base: string
/** The installation's folder. */
let home: string
/** A folder next to it that nothing may touch. */
let outside: string

beforeEach(() => {
  base = realpathSync(mkdtempSync(path.join(tmpdir(), 'holdpoint-files-')))
  home = path.join(base, 'home')
  outside = path.join(base, 'outside')
  mkdirSync(path.join(home, 'lab'), { recursive: true })
  mkdirSync(outside)
  writeFileSync(path.join(outside, 'secret'), 'outside')
})

afterEach(() => rmSync(base, { recursive: true, force: true }))

const labOnly: Root[] = [{ path: 'lab', access: 'write' }]

function effects(roots: Root[] = labOnly, more: Partial<Effects> = {}): Effects {
  return effectsWith({ grants: { roots }, installationRoots: [home], ...more })
}

const inLab = (...names: string[]) => path.join(home, 'lab', ...names)
const writes = (name: string, content: string, mode?: string) =>
  nodeOf('write_file', { path: name, content, ...(mode ? { mode } : {}) })
const reads = (name: string) => nodeOf('read_file', { path: name })
const makes = (name: string) => nodeOf('create_dir', { path: name })
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

/** Snapshot, perform, undo, with the hashes along the way. */
async function thereAndBack(action: Action, given: Effects) {
  const runner = runnerFor(action.kind)
  const snapshot = await runner.snapshot?.(action, given, 'c1')
  if (!snapshot) throw new Error('No snapshot')
  const before = (await runner.stateHash?.(action, snapshot, given))?.hash
  const notTaken = await runner.probe?.(action, snapshot, given)
  const { output, changed } = await runner.perform(action, given, snapshot)
  // What it says it left is what is there.
  const left = (await runner.stateHash?.(action, snapshot, given))?.raw
  expect(changed).toEqual({ found: snapshot.hash, left })
  const took = await runner.probe?.(action, snapshot, given)
  return {
    snapshot,
    before,
    notTaken,
    took,
    output,
    undo: (more: Partial<UndoRequest> = {}) => runner.undo?.(action, snapshot, given, { ...back, ...more }),
    hash: async () => (await runner.stateHash?.(action, snapshot, given))?.hash,
  }
}

describe('the folders a workflow may use', () => {
  test('are none unless declared', async () => {
    for (const node of [reads('lab/x'), writes('lab/x', ''), makes('lab/x')]) {
      const failure = await failureOf(described(node, effects([])))
      expect(failure).toMatchObject({
        code: 'path_outside_roots',
        errorType: 'constraint_violation',
        retriable: false,
      })
      expect(failure.message).toContain('declares no folder')
    }
  })

  test('refuse paths that leave them', async () => {
    for (const name of [
      '../outside/secret',
      'lab/../../outside/secret',
      path.join(outside, 'secret'),
      '/etc/passwd',
      'lab2/x',
    ]) {
      const failure = await failureOf(described(reads(name), effects()))
      expect(failure.code, name).toBe('path_outside_roots')
      expect(failure.message).toContain('leads outside the folders')
    }
  })

  test('are for reading only when they say so', async () => {
    const readOnly: Root[] = [{ path: 'lab', access: 'read' }]
    writeFileSync(inLab('x'), 'hello')
    const action = await actionFor(reads('lab/x'), effects(readOnly))
    expect((await runnerFor('read_file').perform(action, effects(readOnly))).output).toMatchObject({
      content: 'hello',
    })
    const failure = await failureOf(described(writes('lab/x', 'no'), effects(readOnly)))
    expect(failure).toMatchObject({ code: 'path_outside_roots' })
    expect(failure.message).toContain('for reading only')
  })

  test('take an absolute path inside them', async () => {
    writeFileSync(inLab('x'), 'hello')
    await expect(described(reads(inLab('x')), effects())).resolves.toBeDefined()
  })

  test('must really lie in the installation: a declared folder that is a symlink out of it gives nothing', async () => {
    symlinkSync(outside, path.join(home, 'door'))
    const failure = await failureOf(
      described(reads('door/secret'), effects([{ path: 'door', access: 'write' }])),
    )
    expect(failure.code).toBe('path_outside_roots')
  })

  test('may be reached through a symlink of the installation itself', async () => {
    symlinkSync(home, path.join(base, 'alias'))
    writeFileSync(inLab('x'), 'hello')
    const aliased = effects(labOnly, { installationRoots: [path.join(base, 'alias')] })
    const action = await actionFor(reads('lab/x'), aliased)
    expect((await runnerFor('read_file').perform(action, aliased)).output).toMatchObject({ content: 'hello' })
  })
})

describe('symlinks', () => {
  test('out of the folders are refused, at the end of a path and on the way', async () => {
    symlinkSync(path.join(outside, 'secret'), inLab('file'))
    symlinkSync(outside, inLab('folder'))
    symlinkSync('../../outside', inLab('relative'))
    for (const name of ['lab/file', 'lab/folder/secret', 'lab/relative/secret', 'lab/folder/new/deep']) {
      for (const node of [reads(name), writes(name, 'no'), makes(name)]) {
        expect((await failureOf(described(node, effects()))).code, name).toBe('path_outside_roots')
      }
    }
    expect(readdirSync(outside)).toEqual(['secret'])
  })

  test('to nothing are refused: they would make a file wherever they lead', async () => {
    symlinkSync(path.join(outside, 'new'), inLab('dangling'))
    const failure = await failureOf(described(writes('lab/dangling', 'no'), effects()))
    expect(failure.code).toBe('path_is_symlink')
    expect(failure.message).toContain('leads to nothing')
  })

  test('are not seen where another writer makes the folder meanwhile', async () => {
    const answers: unknown[] = []
    for (let round = 0; round < 20; round++) {
      const writers = Array.from({ length: 12 }, async (_, item) => {
        // Each sets out a few turns after the one before, so that some look while others make the folder.
        for (let turn = 0; turn < item * 2; turn++) await new Promise(setImmediate)
        const action = await actionFor(writes(`lab/new-${round}/deep/item-${item}`, 'x'), effects())
        await runnerFor('write_file').perform(action, effects())
      })
      answers.push(...(await Promise.allSettled(writers)))
    }
    expect(answers).toEqual(answers.map(() => ({ status: 'fulfilled', value: undefined })))
    expect(readdirSync(inLab('new-0', 'deep'))).toHaveLength(12)
  })

  test('that go round in circles are refused', async () => {
    symlinkSync(inLab('b'), inLab('a'))
    symlinkSync(inLab('a'), inLab('b'))
    expect((await failureOf(described(reads('lab/a'), effects()))).code).toBe('path_is_symlink')
  })

  test('inside the folders are followed and stay', async () => {
    mkdirSync(inLab('v1'))
    writeFileSync(inLab('v1', 'conf'), 'one')
    symlinkSync('v1', inLab('current'))
    const action = await actionFor(writes('lab/current/conf', 'two'), effects())
    await runnerFor('write_file').perform(action, effects())
    expect(readFileSync(inLab('v1', 'conf'), 'utf8')).toBe('two')
    expect(lstatSync(inLab('current')).isSymbolicLink()).toBe(true)
  })

  test('put in place of a checked folder are noticed when it is opened', async () => {
    mkdirSync(inLab('inner'))
    const place = await locate('lab/inner/x', 'write', effects())
    renameSync(inLab('inner'), inLab('moved'))
    symlinkSync(outside, inLab('inner'))
    const failure = await failureOf(writeWhole(place, Buffer.from('no'), undefined, 'k', effects().signal))
    expect(['path_is_symlink', 'not_a_folder']).toContain(failure.code)
    expect(readdirSync(outside)).toEqual(['secret'])
  })

  test('put in place of a folder further up are noticed too', async () => {
    mkdirSync(inLab('a', 'b'), { recursive: true })
    mkdirSync(path.join(outside, 'b'))
    const place = await locate('lab/a/b/x', 'write', effects())
    renameSync(inLab('a'), inLab('moved'))
    symlinkSync(outside, inLab('a'))
    const failure = await failureOf(writeWhole(place, Buffer.from('no'), undefined, 'k', effects().signal))
    expect(failure.code).toBe('path_is_symlink')
    expect(readdirSync(path.join(outside, 'b'))).toEqual([])
  })

  test('put in place of an open folder do not redirect what is done in it', async () => {
    mkdirSync(inLab('inner'))
    const folder = await Folder.open(inLab('inner'))
    renameSync(inLab('inner'), inLab('moved'))
    symlinkSync(outside, inLab('inner'))
    writeFileSync(folder.at('x'), 'still here')
    expect((await failureOf(folder.verify())).code).toBe('path_is_symlink')
    await folder.close()
    expect(existsSync(path.join(outside, 'x'))).toBe(false)
  })

  test('flipping to and fro while files are written never lead a byte outside', async () => {
    mkdirSync(inLab('inner'))
    let stop = false
    // A writer may make the folder anew while it is aside, so each turn clears the way first.
    const flips = (async () => {
      while (!stop) {
        renameSync(inLab('inner'), inLab('aside'))
        await new Promise(setImmediate)
        rmSync(inLab('inner'), { recursive: true, force: true })
        if (!existsSync(inLab('inner'))) symlinkSync(outside, inLab('inner'))
        await new Promise(setImmediate)
        rmSync(inLab('inner'), { recursive: true, force: true })
        renameSync(inLab('aside'), inLab('inner'))
        await new Promise(setImmediate)
      }
    })().catch(() => undefined)
    for (let at = 0; at < 300; at++) {
      const place = await locate('lab/inner/x', 'write', effects()).catch(() => undefined)
      if (!place) continue
      await writeWhole(place, Buffer.from(`${at}`), undefined, `k${at}`, effects().signal).catch(
        () => undefined,
      )
    }
    stop = true
    await flips
    expect(readdirSync(outside)).toEqual(['secret'])
  })
})

describe('read_file', () => {
  const read = async (name: string) =>
    runnerFor('read_file').perform(await actionFor(reads(name), effects()), effects())

  test('gives path, content and size', async () => {
    writeFileSync(inLab('x'), 'héllo')
    expect(await read('lab/x')).toEqual({ output: { path: 'lab/x', content: 'héllo', bytes: 6 } })
  })

  test('keeps a byte order mark', async () => {
    writeFileSync(inLab('x'), '\ufeffa')
    expect((await read('lab/x')).output).toMatchObject({ content: '\ufeffa', bytes: 4 })
  })

  test.each([
    ['a missing file', () => undefined, 'file_not_found', 'does not exist'],
    ['a folder', () => mkdirSync(inLab('x')), 'not_a_file', 'is a folder'],
    [
      'bytes that are no UTF-8',
      () => writeFileSync(inLab('x'), Buffer.from([0xc3, 0x28])),
      'not_text',
      'not UTF-8 text',
    ],
    [
      'more than 1 MiB',
      () => writeFileSync(inLab('x'), Buffer.alloc(1_048_577, 97)),
      'too_large',
      'larger than 1,048,576 bytes',
    ],
    ['a pipe', () => execFileSync('mkfifo', [inLab('x')]), 'not_a_file', 'device, pipe or socket'],
  ])('refuses %s', async (_, prepare, code, words) => {
    prepare()
    const failure = await failureOf(read('lab/x'))
    expect(failure.code).toBe(code)
    expect(failure.message).toContain(words)
  })

  test('never opens a device', async () => {
    const given = effectsWith({
      grants: { roots: [{ path: '/dev', access: 'read' }] },
      installationRoots: ['/dev'],
    })
    const action = await actionFor(reads('/dev/zero'), given)
    expect((await failureOf(runnerFor('read_file').perform(action, given))).code).toBe('not_a_file')
  })

  test('touches nothing in a dry run', async () => {
    const dry = effects(labOnly, { dryRun: true })
    const action = await actionFor(reads('lab/missing'), dry)
    expect(await runnerFor('read_file').perform(action, dry)).toEqual({
      output: { path: 'lab/missing', dry_run: true },
    })
  })
})

describe('write_file', () => {
  test('says what it would do and shows the difference', async () => {
    writeFileSync(inLab('x'), 'old\n', { mode: 0o640 })
    const { action, preview } = await described(writes('lab/x', 'new\n'), effects())
    expect(action).toMatchObject({
      consequence: 'reversible',
      target: 'lab/x',
      sentence: 'Replace lab/x with 4 bytes',
      undo: 'restore',
      undoSentence: 'Put back its 4 bytes and mode 0640',
      do: { path: 'lab/x', content: 'new\n' },
    })
    expect(preview).toEqual({ show: 'diff', title: 'Change to lab/x', before: 'old\n', after: 'new\n' })
    expect(readFileSync(inLab('x'), 'utf8')).toBe('old\n')
  })

  test('tells a file that is not there from one that is empty', async () => {
    const shown = async (name: string) => (await described(writes(`lab/${name}`, 'new\n'), effects())).preview
    writeFileSync(inLab('empty'), '')
    expect(await shown('empty')).not.toHaveProperty('absent')
    expect(await shown('none')).toMatchObject({ before: '', absent: true })
  })

  test('says when what stands there is not text, and when it is too long to compare', async () => {
    writeFileSync(inLab('x'), Buffer.from([0, 255, 1]))
    expect((await described(writes('lab/x', 'new'), effects())).preview).toMatchObject({
      show: 'text',
      text: 'The file holds 3 bytes that are not text. It would hold 3 bytes.',
    })
    const long = (await described(writes('lab/y', 'a'.repeat(300_000)), effects())).preview
    expect(long?.show === 'text' && long.text.length).toBeLessThan(262_144)
  })

  test('is irreversible when its author says so', async () => {
    const node = { ...writes('lab/x', 'new'), reversible: false }
    expect((await actionFor(node, effects())).consequence).toBe('irreversible')
  })

  test('writes other values as JSON', async () => {
    const node = nodeOf('write_file', { path: 'lab/x', content_from: 'calc' })
    const action = await actionFor(node, effects(), { calc: { b: [1] } })
    await runnerFor('write_file').perform(action, effects())
    expect(JSON.parse(readFileSync(inLab('x'), 'utf8'))).toEqual({ b: [1] })
  })

  test('restores bytes and mode exactly, also of bytes that are no text', async () => {
    const bytes = Buffer.from([0, 0xff, 0xc3, 0x28, 10, 13])
    writeFileSync(inLab('x'), bytes)
    chmodSync(inLab('x'), 0o604)
    const trip = await thereAndBack(await actionFor(writes('lab/x', 'new', '0600'), effects()), effects())
    expect(trip).toMatchObject({ notTaken: 'not_taken', took: 'took_effect', before: trip.snapshot.hash })
    expect(statSync(inLab('x')).mode & 0o7777).toBe(0o600)
    const undone = await trip.undo()
    expect(readFileSync(inLab('x')).equals(bytes)).toBe(true)
    expect(statSync(inLab('x')).mode & 0o7777).toBe(0o604)
    expect(undone).toMatchObject({
      stateHashAfter: trip.snapshot.hash,
      description: 'Put back lab/x with its 6 bytes and mode 0604',
    })
    expect(undone?.stateHashBefore).not.toBe(trip.snapshot.hash)
    expect(await trip.hash()).toBe(trip.snapshot.hash)
  })

  test('keeps the mode of an existing file and gives a new one 0644, whatever the umask', async () => {
    writeFileSync(inLab('script'), 'a')
    chmodSync(inLab('script'), 0o750)
    const umask = process.umask(0o077)
    try {
      for (const name of ['script', 'new']) {
        await runnerFor('write_file').perform(
          await actionFor(writes(`lab/${name}`, 'b'), effects()),
          effects(),
        )
      }
    } finally {
      process.umask(umask)
    }
    expect(statSync(inLab('script')).mode & 0o7777).toBe(0o750)
    expect(statSync(inLab('new')).mode & 0o7777).toBe(0o644)
  })

  test('restores absence, with the folders made for it', async () => {
    const trip = await thereAndBack(await actionFor(writes('lab/a/b/x', 'new'), effects()), effects())
    expect(readFileSync(inLab('a', 'b', 'x'), 'utf8')).toBe('new')
    const undone = await trip.undo()
    expect(readdirSync(inLab())).toEqual([])
    expect(undone?.stateHashAfter).toBe(trip.snapshot.hash)
    expect((await trip.undo())?.stateHashBefore).toBe(trip.snapshot.hash)
  })

  test('leaves folders in which something else is by now', async () => {
    const trip = await thereAndBack(await actionFor(writes('lab/a/b/x', 'new'), effects()), effects())
    writeFileSync(inLab('a', 'other'), 'kept')
    const undone = await trip.undo()
    expect(readdirSync(inLab('a'))).toEqual(['other'])
    expect(undone?.description).toContain('left a folder made for it')
    expect(undone?.stateHashAfter).not.toBe(trip.snapshot.hash)
  })

  test('puts a file back although its folder is gone', async () => {
    mkdirSync(inLab('a'))
    writeFileSync(inLab('a', 'x'), 'old')
    const trip = await thereAndBack(await actionFor(writes('lab/a/x', 'new'), effects()), effects())
    rmSync(inLab('a'), { recursive: true })
    expect((await trip.undo())?.stateHashAfter).toBe(trip.snapshot.hash)
    expect(readFileSync(inLab('a', 'x'), 'utf8')).toBe('old')
  })

  test('does not put back into another place that a symlink leads to by now', async () => {
    mkdirSync(inLab('a'))
    mkdirSync(inLab('b'))
    writeFileSync(inLab('a', 'x'), 'old')
    const trip = await thereAndBack(await actionFor(writes('lab/a/x', 'new'), effects()), effects())
    renameSync(inLab('a'), inLab('moved'))
    symlinkSync('b', inLab('a'))
    const failure = await failureOf(Promise.resolve(trip.undo()))
    expect(failure.code).toBe('path_moved')
    expect(readdirSync(inLab('b'))).toEqual([])
  })

  test('cannot tell when somebody else wrote in between', async () => {
    const action = await actionFor(writes('lab/x', 'new'), effects())
    const snapshot = await runnerFor('write_file').snapshot?.(action, effects(), 'c1')
    writeFileSync(inLab('x'), 'somebody')
    expect(snapshot && (await runnerFor('write_file').probe?.(action, snapshot, effects()))).toBe('unknown')
  })

  test.each([
    ['write_file', writes('lab/deep/down/x', 'new')],
    ['create_dir', makes('lab/deep/down/x')],
  ] as const)(
    '%s knows a crash after the folders above were made for one before the act',
    async (kind, node) => {
      const action = await actionFor(node, effects())
      const snapshot = await runnerFor(kind).snapshot?.(action, effects(), 'c1')
      const probe = async () => snapshot && (await runnerFor(kind).probe?.(action, snapshot, effects()))
      mkdirSync(inLab('deep'))
      expect(await probe()).toBe('not_taken')
      mkdirSync(inLab('deep', 'down'))
      expect(await probe()).toBe('not_taken')
      rmdirSync(inLab('deep', 'down'))
      writeFileSync(inLab('deep', 'down'), 'somebody')
      await expect(probe()).rejects.toThrow('lab/deep/down')
    },
  )

  test('leaves the old bytes and no trace when it is given up', async () => {
    writeFileSync(inLab('x'), 'old')
    const place = await locate('lab/x', 'write', effects())
    const signal = AbortSignal.abort(new Error('cancelled'))
    const failure = await failureOf(writeWhole(place, Buffer.from('new'), undefined, 'k', signal))
    expect(failure).toMatchObject({ code: 'effect_timeout', errorType: 'timeout', retriable: true })
    expect(failure.message).toContain('nothing was done')
    expect(readdirSync(inLab())).toEqual(['x'])
    expect(readFileSync(inLab('x'), 'utf8')).toBe('old')
  })

  describe('killed between staging its bytes and renaming them', () => {
    const next = () => effects(labOnly, { idempotencyKey: 'run_1/n1/1/2' })

    /** Returns what the killed process left in the folder. */
    async function killed(action: Action, folder: string): Promise<string[]> {
      const program = path.join(import.meta.dirname, 'killed-write.ts')
      const child = spawn(process.execPath, ['--import', 'tsx', program, home, JSON.stringify(action)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const gone = once(child, 'exit')
      await once(child.stdout, 'data')
      child.kill('SIGKILL')
      await gone
      return readdirSync(folder).filter((name) => /^\.holdpoint-.*\.tmp$/.test(name))
    }

    test('leaves the old bytes, and a file that the next attempt removes', async () => {
      writeFileSync(inLab('x'), 'old')
      const action = await actionFor(writes('lab/x', 'new'), effects())
      expect(await killed(action, inLab())).toHaveLength(1)
      expect(readFileSync(inLab('x'), 'utf8')).toBe('old')
      await runnerFor('write_file').perform(action, next())
      expect(readdirSync(inLab())).toEqual(['x'])
      expect(readFileSync(inLab('x'), 'utf8')).toBe('new')
    })

    test('leaves a file that its undo removes, with the folders made for it', async () => {
      const runner = runnerFor('write_file')
      const action = await actionFor(writes('lab/deep/x', 'new'), effects())
      const snapshot = (await runner.snapshot?.(action, effects(), 'c1')) as Snapshot
      expect(await killed(action, inLab('deep'))).toHaveLength(1)
      const undone = await runner.undo?.(action, snapshot, next(), back)
      expect(undone?.stateHashAfter).toBe(snapshot.hash)
      expect(readdirSync(inLab())).toEqual([])
    })

    test('leaves a file that its undo removes where nothing else is to be put back', async () => {
      writeFileSync(inLab('x'), 'old')
      const runner = runnerFor('write_file')
      const action = await actionFor(writes('lab/x', 'new'), effects())
      const snapshot = (await runner.snapshot?.(action, effects(), 'c1')) as Snapshot
      await killed(action, inLab())
      await runner.undo?.(action, snapshot, next(), back)
      expect(readdirSync(inLab())).toEqual(['x'])
    })
  })

  test('leaves alone what other runs and steps stage at the same moment', async () => {
    const place = await locate('lab/x', 'write', effects())
    const stagers = Array.from({ length: 20 }, (_, at) => `run_${at % 10}/n${at >> 3}`)
    await Promise.all(
      stagers.map((stager) => writeWhole(place, Buffer.from(stager), undefined, stager, effects().signal)),
    )
    expect(readdirSync(inLab())).toEqual(['x'])
    expect(stagers).toContain(readFileSync(inLab('x'), 'utf8'))
  })

  test.each([
    ['a folder', () => mkdirSync(inLab('x')), 'not_a_file'],
    ['a pipe', () => execFileSync('mkfifo', [inLab('x')]), 'not_a_file'],
    ['a file above it', () => writeFileSync(inLab('x'), ''), 'not_a_folder'],
  ])('refuses %s', async (found, prepare, code) => {
    prepare()
    const name = found === 'a file above it' ? 'lab/x/y' : 'lab/x'
    expect((await failureOf(described(writes(name, 'no'), effects()))).code).toBe(code)
  })

  test('refuses to seal more than 16 MiB, and to write it', async () => {
    writeFileSync(inLab('big'), Buffer.alloc(16_777_217))
    expect((await failureOf(described(writes('lab/big', 'x'), effects()))).code).toBe('too_large')
    const failure = await failureOf(described(writes('lab/x', 'é'.repeat(8_388_609)), effects()))
    expect(failure.message).toContain('larger than 16 MiB')
  })

  test('checks an action that a person edited as strictly as its own', async () => {
    const runner = runnerFor('write_file')
    const step = { runId: 'run_1', node: writes('lab/x', 'a'), visit: 1 }
    expect(
      (await failureOf(runner.describe({ path: '/etc/passwd', content: 'x' }, step, effects()))).code,
    ).toBe('path_outside_roots')
    expect(
      (await failureOf(runner.describe({ path: 'lab/x', content: 'x', extra: 1 }, step, effects()))).code,
    ).toBe('action_invalid')
    expect((await failureOf(runner.describe({ path: 'lab/x' }, step, effects()))).code).toBe('action_invalid')
  })

  test.runIf(process.getuid?.() === 0)('says so when it may not write there', async () => {
    chmodSync(base, 0o755)
    chmodSync(inLab(), 0o555)
    const action = await actionFor(writes('lab/x', 'new'), effects())
    process.seteuid?.(65_534)
    try {
      const failure = await failureOf(runnerFor('write_file').perform(action, effects()))
      expect(failure).toMatchObject({ code: 'not_permitted', retriable: false })
      expect(failure.message).toContain('Could not write "lab/x": permission is denied')
    } finally {
      process.seteuid?.(0)
    }
    expect(readdirSync(inLab())).toEqual([])
  })

  test('never puts contents into words', async () => {
    const content = 'hunter2-in-the-content'
    const action = await actionFor(writes('lab/x', content), effects())
    expect(`${action.sentence} ${action.target} ${action.undoSentence}`).not.toContain('hunter2')
    mkdirSync(inLab('x'))
    expect((await failureOf(runnerFor('write_file').perform(action, effects()))).message).not.toContain(
      'hunter2',
    )
  })

  test('gives back any bytes and any mode', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 300 }),
        fc.integer({ min: 0, max: 0o777 }),
        async (bytes, mode) => {
          rmSync(inLab('x'), { force: true })
          writeFileSync(inLab('x'), bytes)
          chmodSync(inLab('x'), mode)
          const trip = await thereAndBack(await actionFor(writes('lab/x', 'new'), effects()), effects())
          await trip.undo()
          expect(readFileSync(inLab('x')).equals(bytes)).toBe(true)
          expect(statSync(inLab('x')).mode & 0o7777).toBe(mode)
          expect(await trip.hash()).toBe(trip.snapshot.hash)
        },
      ),
      { numRuns: process.getuid?.() === 0 ? 40 : 0 },
    )
  })

  test('seals a canonical state whose hash is the hash of its text', async () => {
    writeFileSync(inLab('x'), 'a')
    const action = await actionFor(writes('lab/x', 'b'), effects())
    const snapshot = await runnerFor('write_file').snapshot?.(action, effects(), 'c1')
    expect(snapshot?.hash).toBe(hashJson(snapshot?.state))
    expect(snapshot?.state).toEqual({ stood: 'file', path: inLab('x'), bytes: 'YQ==', mode: modeOf('x') })
  })
})

function modeOf(name: string): string {
  return (statSync(inLab(name)).mode & 0o7777).toString(8).padStart(4, '0')
}

describe('create_dir', () => {
  test('makes all folders and takes away exactly those it made', async () => {
    mkdirSync(inLab('a'))
    const trip = await thereAndBack(await actionFor(makes('lab/a/b/c'), effects()), effects())
    expect(trip).toMatchObject({
      notTaken: 'not_taken',
      took: 'took_effect',
      output: { path: 'lab/a/b/c', created: true },
    })
    expect(statSync(inLab('a', 'b', 'c')).isDirectory()).toBe(true)
    expect((await trip.undo())?.stateHashAfter).toBe(trip.snapshot.hash)
    expect(readdirSync(inLab('a'))).toEqual([])
  })

  test('leaves a folder that is there already, also when it is undone', async () => {
    mkdirSync(inLab('a'))
    writeFileSync(inLab('a', 'x'), 'kept')
    const action = await actionFor(makes('lab/a'), effects())
    expect(action.sentence).toBe('Leave the folder lab/a as it is')
    const trip = await thereAndBack(action, effects())
    expect(trip.output).toEqual({ path: 'lab/a', created: true, existed: true })
    expect(await trip.undo()).toMatchObject({ description: 'Left the folder lab/a, which was there before' })
    expect(readdirSync(inLab('a'))).toEqual(['x'])
  })

  test('does not remove a folder that something was put into', async () => {
    const trip = await thereAndBack(await actionFor(makes('lab/a'), effects()), effects())
    writeFileSync(inLab('a', 'x'), 'kept')
    const failure = await failureOf(Promise.resolve(trip.undo()))
    expect(failure.code).toBe('folder_not_empty')
    expect(failure.message).toContain('holds something by now')
  })

  test('refuses a place where a file stands', async () => {
    writeFileSync(inLab('a'), '')
    expect((await failureOf(described(makes('lab/a'), effects()))).code).toBe('not_a_folder')
  })

  test('makes the declared folder itself', async () => {
    const roots: Root[] = [{ path: 'reports', access: 'write' }]
    const action = await actionFor(makes('reports'), effects(roots))
    await runnerFor('create_dir').perform(action, effects(roots))
    expect(statSync(path.join(home, 'reports')).isDirectory()).toBe(true)
  })
})

describe('the policy', () => {
  test('is asked about where a path really leads, before and again when it is done', async () => {
    symlinkSync(inLab('real'), inLab('link'))
    mkdirSync(inLab('real'))
    writeFileSync(inLab('real', 'x'), 'hello')
    const asked: ToolCall[] = []
    const given = effects(labOnly, { allow: async (call) => void asked.push(call) })
    for (const node of [reads('lab/link/x'), writes('lab/link/y', 'new'), makes('lab/link/z')]) {
      await runnerFor(node.kind).perform(await actionFor(node, given), given)
    }
    const twice = (tool: 'fs.read' | 'fs.write', name: string) =>
      Array(2).fill({ tool, path: inLab('real', name) })
    expect(asked).toEqual([...twice('fs.read', 'x'), ...twice('fs.write', 'y'), ...twice('fs.write', 'z')])
  })

  test('that denies it changes nothing, in a dry run too', async () => {
    writeFileSync(inLab('x'), 'hello')
    const allow = async () => {
      throw new EffectFailed('policy_denied', 'fs.write denied on it: no rule names it')
    }
    for (const node of [reads('lab/x'), writes('lab/x', 'no'), makes('lab/new')]) {
      const action = await actionFor(node, effects())
      for (const dryRun of [false, true]) {
        const denied = effects(labOnly, { allow, dryRun })
        expect((await failureOf(runnerFor(node.kind).perform(action, denied))).code).toBe('policy_denied')
        expect((await failureOf(described(node, denied))).code).toBe('policy_denied')
      }
    }
    expect(readFileSync(inLab('x'), 'utf8')).toBe('hello')
    expect(existsSync(inLab('new'))).toBe(false)
  })
})

describe('what the reference has as outputs', () => {
  const act = async (node: ReturnType<typeof nodeOf>, values = {}, more: Partial<Effects> = {}) =>
    (
      await runnerFor(node.kind).perform(
        await actionFor(node, effects(labOnly, more), values),
        effects(labOnly, more),
      )
    ).output

  test('of a value of the run written to a file: JSON on one line', async () => {
    const node = nodeOf('write_file', { path_from: 'trigger.path', content_from: 'classify' })
    const values = { 'trigger.path': 'lab/a/b/out.json', classify: { n: 42, list: [1, 'é'] } }
    expect(await act(node, values)).toEqual({ path: 'lab/a/b/out.json', bytes: 24, written: true })
    expect(readFileSync(inLab('a', 'b', 'out.json'), 'utf8')).toBe('{"list":[1,"é"],"n":42}')
  })

  test('of a dry run', async () => {
    writeFileSync(inLab('x'), 'hello')
    const dryRun = { dryRun: true }
    expect(await act(reads('lab/x'), {}, dryRun)).toEqual({ path: 'lab/x', dry_run: true })
    expect(await act(writes('lab/y', 'é'), {}, dryRun)).toEqual({ path: 'lab/y', bytes: 2, dry_run: true })
    expect(await act(makes('lab/z'), {}, dryRun)).toEqual({ path: 'lab/z', dry_run: true })
    expect(readdirSync(inLab())).toEqual(['x'])
  })

  test('of reading: a file that is not there may be there when it is tried again', async () => {
    writeFileSync(inLab('x'), 'é')
    expect(await act(reads('lab/x'))).toEqual({ path: 'lab/x', content: 'é', bytes: 2 })
    const missing = await failureOf(act(reads('lab/y')))
    expect(missing).toMatchObject({ code: 'file_not_found', retriable: true })
  })
})

describe('what a run may write', () => {
  test('is counted before a byte is written, and not in a dry run', async () => {
    const spent: number[] = []
    const spendBytes = async (bytes: number) => {
      if (bytes > 3) throw new EffectFailed('budget_exhausted', 'The run may write 3 bytes')
      spent.push(bytes)
    }
    const given = effects(labOnly, { spendBytes })
    const action = await actionFor(writes('lab/x', 'abc'), given)
    expect(await runnerFor('write_file').perform(action, given)).toMatchObject({ writtenBytes: 3 })
    await runnerFor('write_file').perform(action, { ...given, dryRun: true })
    const over = await actionFor(writes('lab/y', 'abcd'), given)
    expect((await failureOf(runnerFor('write_file').perform(over, given))).code).toBe('budget_exhausted')
    expect(spent).toEqual([3])
    expect(readdirSync(inLab())).toEqual(['x'])
  })
})

describe('putting back what somebody else may have changed', () => {
  const wrote = async () => {
    writeFileSync(inLab('x'), 'before')
    const given = effects()
    return thereAndBack(await actionFor(writes('lab/x', 'after'), given), given)
  }

  test('asks with the state that is there, and leaves it where it may not', async () => {
    const { undo, hash } = await wrote()
    writeFileSync(inLab('x'), 'by hand')
    const asked: string[] = []
    const whyNot = async ({ raw }: SeenState) => {
      asked.push(raw)
      return 'It was changed since'
    }
    const failure = await failureOf(Promise.resolve(undo({ whyNot })))
    expect(failure).toMatchObject({
      code: 'hash_mismatch',
      message: 'It was changed since',
      retriable: false,
    })
    expect(asked).toEqual([await hash()])
    expect(readFileSync(inLab('x'), 'utf8')).toBe('by hand')
  })

  test('asks again about what changed while it was asked, and gives up where that has no end', async () => {
    const { undo } = await wrote()
    const whyNot = async () => {
      if (readFileSync(inLab('x'), 'utf8') === 'by hand') return 'It was changed since'
      writeFileSync(inLab('x'), 'by hand')
      return undefined
    }
    expect(await failureOf(Promise.resolve(undo({ whyNot })))).toMatchObject({ code: 'hash_mismatch' })
    expect(readFileSync(inLab('x'), 'utf8')).toBe('by hand')
    let times = 0
    const restless = async () => {
      writeFileSync(inLab('x'), `by hand ${times++}`)
      return undefined
    }
    const failure = await failureOf(Promise.resolve(undo({ whyNot: restless })))
    expect(failure.code).toBe('changed_meanwhile')
    expect(failure.message).toContain('changed while it was looked at; try again when nobody writes to it')
  })

  test('asks nobody where all is as before already', async () => {
    const { undo, snapshot } = await wrote()
    writeFileSync(inLab('x'), 'before')
    const undone = await undo({ whyNot: async () => 'It was changed since' })
    expect(undone?.stateHashAfter).toBe(snapshot.hash)
  })
})
