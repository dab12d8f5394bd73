import { type ChildProcess, fork, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, it } from 'vitest'

const folder = mkdtempSync(path.join(tmpdir(), 'holdpoint-follow-'))
const follow = pathToFileURL(path.join(import.meta.dirname, 'follow-parent.mjs')).href
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function program(name: string, source: string): string {
  const file = path.join(folder, name)
  writeFileSync(file, source)
  return file
}

/** A program that follows this one, and a channel to it. */
function following(file: string): ChildProcess {
  return fork(file, { execArgv: ['--import', follow], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
}

function endOf(child: ChildProcess): Promise<{ code: number | null; signal: string | null }> {
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))
}

function messageOf(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.once('message', resolve)
    child.once('exit', (code) => reject(new Error(`It ended with exit code ${code} and had said nothing`)))
  })
}

/** Waits for what it is told, as Next's development server does, and has nothing else that keeps it alive. */
const waiting = program(
  'waiting.mjs',
  `process.on('message', (said) => process.send({ heard: said }))
   process.send('ready')`,
)

it('lets a program wait for messages', async () => {
  const child = following(waiting)
  expect(await messageOf(child)).toBe('ready')
  child.send('one')
  expect(await messageOf(child)).toEqual({ heard: 'one' })
  const ended = endOf(child)
  child.disconnect()
  expect(await ended).toEqual({ code: null, signal: 'SIGTERM' })
})

it('keeps nothing alive that has nothing to do', async () => {
  const idle = following(program('idle.mjs', ''))
  expect(await endOf(idle)).toEqual({ code: 0, signal: null })
  const heard = following(program('once.mjs', `process.once('message', () => {})`))
  const ended = endOf(heard)
  heard.send('that is all')
  expect(await ended).toEqual({ code: 0, signal: null })
})

it('ends what a program forked when that program is killed', async () => {
  const parent = program(
    'parent.mjs',
    `import { fork } from 'node:child_process'
     const child = fork(${JSON.stringify(waiting)}, { execArgv: process.execArgv })
     child.once('message', () => console.log('both are there'))`,
  )
  const child = spawn(process.execPath, ['--import', follow, parent], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise((resolve) => child.stdout?.once('data', resolve))
  // Both write there: it closes when neither is left.
  const bothEnded = new Promise((resolve) => child.stdout?.once('close', resolve))
  child.kill('SIGKILL')
  await bothEnded
})
