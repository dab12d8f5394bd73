/** Paths that want out, and things at paths that are no files: refused by name, never opened, never waited for. */
import { execFileSync } from 'node:child_process'
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs'
import { link, mkdir, symlink, truncate } from 'node:fs/promises'
import { createServer } from 'node:net'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { edge, node, Scene, workflow } from './scene'

let scene: Scene
beforeEach(async () => {
  scene = await Scene.open()
})
afterEach(async () => {
  expect(await scene.close()).toEqual([])
})

const secret = 'root-only-content'
const reading = workflow('go', node('go', 'read_file', 'path_from = "trigger.path"'))
const writing = workflow(
  'go',
  node('go', 'write_file', 'path_from = "trigger.path"', 'content_from = "trigger.content"'),
)
/** The same with the widest policy a workflow can state. */
const openly = (text: string) => `${text}\n[policy.fs]\nread = ["*"]\nwrite = ["*"]\n`

/** What lies around the installation's folder, and leads out of it. */
async function pitfalls(): Promise<void> {
  const outside = await scene.file('outside/secret.txt', secret)
  await symlink(outside, path.join(scene.files, 'leaf'))
  await symlink(path.dirname(outside), path.join(scene.files, 'folder'))
  await symlink(path.join(scene.folder, 'nowhere'), path.join(scene.files, 'dangling'))
  await symlink('loop', path.join(scene.files, 'loop'))
}

const escapes = (): [string, string][] => [
  ['dots', '../../outside/secret.txt'],
  ['dots behind a folder', 'a/../../../outside/secret.txt'],
  ['an absolute path', path.join(scene.folder, 'outside/secret.txt')],
  ['its own keys', '../keys/x'],
  ['a symlink', 'leaf'],
  ['a symlinked folder', 'folder/secret.txt'],
  ['a symlink to nothing', 'dangling'],
  ['a symlink to itself', 'loop'],
  ['the root of /proc', `/proc/self/root${scene.folder}/outside/secret.txt`],
  ['the working folder of /proc', '/proc/self/cwd/package.json'],
  ['its own environment', '/proc/self/environ'],
  ['a NUL', 'leaf\0.txt'],
]

describe('a path that leads out of the installation’s folder', () => {
  it.each([
    ['without a policy', (text: string) => text],
    ['under a policy that names everything', openly],
  ])('is not read %s', async (_name, of) => {
    await pitfalls()
    for (const [name, target] of escapes()) {
      const outcome = await scene.served(of(reading), { input: { path: target } })
      expect({ name, status: outcome.status, finalValue: outcome.finalValue }).toEqual({
        name,
        status: 'errored',
        finalValue: null,
      })
      expect(outcome.reason.length).toBeGreaterThan(20)
      expect(outcome.reason).not.toMatch(/\n|\0/)
      expect(outcome.reason).not.toContain(secret)
    }
  })

  it('is not written', async () => {
    await pitfalls()
    for (const [name, target] of escapes()) {
      const outcome = await scene.served(openly(writing), { input: { path: target, content: 'mine' } })
      expect({ name, status: outcome.status }).toEqual({ name, status: 'errored' })
    }
    expect(readdirSync(path.join(scene.folder, 'outside'))).toEqual(['secret.txt'])
    expect(readFileSync(path.join(scene.folder, 'outside/secret.txt'), 'utf8')).toBe(secret)
  })

  it('is not followed when it is swapped in between the check and the use', async () => {
    const outside = path.join(scene.folder, 'outside')
    mkdirSync(outside)
    const [folder, aside, trap] = ['sub', 'aside', 'trap'].map((name) => path.join(scene.files, name)) as [
      string,
      string,
      string,
    ]
    mkdirSync(folder)
    symlinkSync(outside, trap)
    let swaps = 0
    let swapping = true
    const swap = () => {
      if (!swapping) return
      swaps += 1
      if (lstatSync(folder).isSymbolicLink()) {
        renameSync(folder, trap)
        renameSync(aside, folder)
      } else {
        renameSync(folder, aside)
        renameSync(trap, folder)
      }
      setImmediate(swap)
    }
    setImmediate(swap)
    const text = workflow(
      'go',
      [
        node('go', 'write_file', 'path_from = "trigger.path"', 'content_from = "trigger.content"'),
        node('again', 'merge'),
        edge('go', 'again', 'max_iterations = 60'),
        edge('go', 'again', 'when = "error"', 'max_iterations = 60'),
        edge('again', 'go', 'max_iterations = 60'),
      ].join(''),
    )
    const { status } = await scene.served(text, { input: { path: 'sub/x', content: 'mine' } })
    swapping = false
    expect(status).toMatch(/completed|errored/)
    expect(swaps).toBeGreaterThan(60)
    expect(readdirSync(outside)).toEqual([])
  })

  it('that is a hard link is replaced, and the file it shared stays as it was', async () => {
    const outside = await scene.file('outside/secret.txt', secret)
    await link(outside, path.join(scene.files, 'shared'))
    const { status } = await scene.served(writing, { input: { path: 'shared', content: 'mine' } })
    expect(status).toBe('completed')
    expect(readFileSync(outside, 'utf8')).toBe(secret)
    expect(readFileSync(path.join(scene.files, 'shared'), 'utf8')).toBe('mine')
  })
})

describe('what is no file', () => {
  const wrong = async (): Promise<[string, RegExp][]> => {
    const at = (name: string) => path.join(scene.files, name)
    execFileSync('mkfifo', [at('pipe')])
    await mkdir(at('folder'))
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(at('socket'), resolve))
    scene.atEnd(() => new Promise((resolve) => server.close(resolve)))
    await scene.file('data/files/sparse', '')
    await truncate(at('sparse'), 20e9)
    await scene.file('data/files/large', 'x'.repeat(1_048_577))
    await scene.file('data/files/binary', new Uint8Array([0xff, 0xfe, 0x00]))
    return [
      [at('pipe'), /device, pipe or socket/],
      [at('socket'), /device, pipe or socket/],
      [at('folder'), /is a folder/],
      [at('sparse'), /larger than 1,048,576 bytes/],
      [at('large'), /larger than 1,048,576 bytes/],
      [at('binary'), /not UTF-8 text/],
    ]
  }

  it('is not read, by a server or alone', async () => {
    for (const [target, words] of await wrong()) {
      for (const way of ['served', 'alone'] as const) {
        const outcome = await scene[way](reading, { input: { path: target } })
        expect(outcome.status).toBe('errored')
        expect(outcome.reason).toMatch(words)
      }
    }
  })

  it.each(['/dev/zero', '/dev/stdin', '/dev/tty', '/dev/null', '/dev/random'])(
    '%s is not read where a person’s own command line may read anything',
    async (device) => {
      const outcome = await scene.alone(reading, { input: { path: device } })
      expect(outcome.status).toBe('errored')
    },
  )

  it('is not written over', async () => {
    for (const name of ['pipe', 'socket', 'folder']) {
      if (name === 'pipe') await wrong()
      const outcome = await scene.served(writing, { input: { path: name, content: 'x' } })
      expect(outcome.status).toBe('errored')
      expect(outcome.reason).toMatch(/device, pipe or socket|is a folder/)
    }
  })
})

describe('a name with a line break in it', () => {
  it('works, and stays one line wherever it is spoken', async () => {
    const name = 'a\nFORGED line\u2028b'
    const written = await scene.served(writing, { input: { path: name, content: 'x' } })
    expect(written.status).toBe('completed')
    const outcome = await scene.served(reading, { input: { path: `${name}/missing` } })
    expect(outcome.status).toBe('errored')
    expect(outcome.reason).not.toMatch(/[\n\u2028]/)
    expect(scene.log).not.toMatch(/\nFORGED/)
  })
})
