import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { isProblem, type Problem } from '@/lib/base/problem'
import { openStore } from './open'
import { lockForServer } from './server-lock'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdpoint-lock-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))

const clock = { now: () => Date.UTC(2026, 2, 1, 12, 5, 7) }

function refusedLock(data: string): Problem {
  try {
    lockForServer(data).release()
  } catch (error) {
    if (isProblem(error, 'data_folder_taken')) return error
    throw error
  }
  throw new Error('The second server was let in')
}

describe('the lock of a data folder', () => {
  it('lets one server in, names it to the second, and lets the next in when it is gone', () => {
    const data = path.join(folder, 'one')
    const lock = lockForServer(data, clock)
    const problem = refusedLock(data)
    expect(problem.message).toBe(
      `A Holdpoint server already runs on ${data}: process ${process.pid}, started 2026-03-01 12:05:07 UTC; stop it, or give this one a data folder of its own`,
    )
    expect(problem.data).toMatchObject({ pid: process.pid, startedAt: '2026-03-01T12:05:07.000Z' })
    lock.release()
    lock.release()
    lockForServer(data).release()
  })

  it('is held against another process, and dies with it', async () => {
    const data = path.join(folder, 'two')
    const program = `
      const { lockForServer } = await import(${JSON.stringify(path.join(import.meta.dirname, 'server-lock.ts'))})
      lockForServer(${JSON.stringify(data)})
      process.stdout.write('locked')
      setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    expect(refusedLock(data).data.pid).toBe(child.pid)
    child.kill('SIGKILL')
    await once(child, 'exit')
    lockForServer(data).release()
  })

  it('does not keep workers from the store', async () => {
    const data = path.join(folder, 'three')
    const lock = lockForServer(data)
    const stores = [await openStore(data), await openStore(data)]
    await Promise.all(stores.map((store) => store.close()))
    lock.release()
  })
})
