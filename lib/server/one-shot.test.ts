/* `holdpoint run` beside a console on the same data folder: what it starts is done by its own process. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunId } from '@/lib/base/ids'
import { startWorker, type Worker } from '@/lib/worker/worker'
import type { Installation } from './installation'
import { createLog } from './log'
import { openInstallation } from './open-installation'

const root = path.resolve(import.meta.dirname, '../..')
const start = '[[start_nodes]]\nname = "main"\nsource = "manual"\n'
const whose = '[[nodes]]\nid = "whose"\ntype = "read_env"\nkey = "WHOSE"\n'
const each =
  '[[nodes]]\nid = "each"\ntype = "map"\nitems_from = "trigger.items"\nworkflow = "child.toml"\nmax_items = 40\nmax_concurrent = 8\n'
const items = Array.from({ length: 40 }, (_, index) => index)
const policy = '[policy.env]\nread_keys = ["WHOSE"]\n'

let folder: string
let house: Installation
let worker: Worker
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'holdpoint-beside-'))
  mkdirSync(path.join(folder, 'data'))
  process.env.WHOSE = 'console'
  const dataDir = path.join(folder, 'data')
  house = await openInstallation({
    dataDir,
    origin: 'http://localhost:3000',
    authoredFolders: [folder],
    log: createLog('silent'),
  })
  worker = startWorker(house.ports, 'console')
  writeFileSync(
    path.join(folder, 'child.toml'),
    `name = "child"\n${start}entry_node = "whose"\n${whose}${policy}`,
  )
})
afterAll(async () => {
  delete process.env.WHOSE
  await worker.stop()
  await house.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The command as a user types it, in an environment of its own. */
function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [path.join(root, 'lib/cli/holdpoint.mjs'), 'run', ...args, '--data', path.join(folder, 'data')],
      { cwd: folder, env: { ...process.env, WHOSE: 'command line' } },
      (error, out, err) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, out, err }),
    )
  })
}

function file(name: string, text: string): string {
  const place = path.join(folder, name)
  writeFileSync(place, text)
  return place
}

/** What each child run of it found. */
async function foundBelow(parent: RunId): Promise<unknown[]> {
  const { items } = await house.store.runs.list({ parent }, { limit: 100 })
  return Promise.all(
    items.map(async ({ runId }) => {
      const hash = await house.book.read(runId, ({ visits }) => {
        const state = visits.get('whose')?.state
        return state?.status === 'done' ? state.output : ''
      })
      const value = await house.store.ledger.value(hash)
      return JSON.parse(Buffer.from(value?.bytes ?? []).toString('utf8')).value
    }),
  )
}

describe('a run of the command line, beside a console', () => {
  it('sees the environment of the command line in all its steps and all its children', async () => {
    const edge = '[[edges]]\nfrom = "each"\nto = "whose"\n'
    const text = `name = "all"\n${start}entry_node = "each"\n${each}${whose}${edge}${policy}`
    const { code, out, err } = await run(file('all.toml', text), '--input', JSON.stringify({ items }))
    expect({ code, err }).toMatchObject({ code: 0 })
    const { run_id, final_value } = JSON.parse(out)
    expect(final_value).toMatchObject({ value: 'command line' })
    expect(await foundBelow(run_id)).toEqual(items.map(() => 'command line'))
    expect(await house.store.ledger.header(run_id)).not.toHaveProperty('keptFor')
  })

  it('is the command line’s again when it goes on there, and anyone’s while it waits', async () => {
    const pause = '[[nodes]]\nid = "ask"\ntype = "pause_for_approval"\nreason = "Look at it"\n'
    const edges = '[[edges]]\nfrom = "ask"\nto = "each"\n[[edges]]\nfrom = "each"\nto = "whose"\n'
    const text = `name = "asks"\n${start}entry_node = "ask"\n${pause}${each}${whose}${edges}${policy}`
    const waiting = await run(file('asks.toml', text), '--input', JSON.stringify({ items }))
    expect({ code: waiting.code, err: waiting.err }).toMatchObject({ code: 7 })
    const { run_id } = JSON.parse(waiting.out)
    expect(await house.store.ledger.header(run_id)).not.toHaveProperty('keptFor')
    const { out } = await run('--resume', run_id)
    expect(JSON.parse(out)).toMatchObject({ final_value: { value: 'command line' } })
    expect(await foundBelow(run_id)).toEqual(items.map(() => 'command line'))
  })
})
