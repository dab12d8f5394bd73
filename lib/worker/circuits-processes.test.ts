import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import readline from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RunId } from '@/lib/base/ids'
import { openStore } from '@/lib/store/open'
import type { Store } from '@/lib/store/store'
import { circuitId } from './circuit-entry'

/** Called by all: says 500 until it is told otherwise, then keeps whoever calls waiting. */
class Target {
  isWell = false
  /** Calls that arrived, since a test began to count. */
  asked = 0
  under = 0
  most = 0
  #waiting: (() => void)[] = []
  readonly server = http.createServer((_request, response) => {
    this.asked++
    if (!this.isWell) return void response.writeHead(500).end()
    this.most = Math.max(this.most, ++this.under)
    this.#waiting.push(() => {
      this.under--
      response.writeHead(200).end()
    })
  })

  /** Answers whoever waits. */
  answer(): void {
    for (const answer of this.#waiting.splice(0)) answer()
  }
}

/** A process that calls through the shared breaker; counts what it says. */
class Calling {
  readonly said = new Map<string, number>()
  readonly child: ChildProcess
  readonly #listeners = new Set<() => void>()

  constructor(data: string, url: string, caller = 'workflow:storm') {
    const program = path.join(import.meta.dirname, 'testing/circuit-caller.ts')
    this.child = spawn(process.execPath, ['--import', 'tsx', program, data, url, caller], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const lines = readline.createInterface({ input: this.child.stdout as NodeJS.ReadableStream })
    lines.on('line', (line) => {
      this.said.set(line, (this.said.get(line) ?? 0) + 1)
      for (const heard of this.#listeners) heard()
    })
  }

  /** Resolves when it has said the word so many times more. */
  async says(word: string, more = 1): Promise<void> {
    const enough = (this.said.get(word) ?? 0) + more
    await new Promise<void>((resolve) => {
      const heard = () => {
        if ((this.said.get(word) ?? 0) < enough) return
        this.#listeners.delete(heard)
        resolve()
      }
      this.#listeners.add(heard)
    })
  }
}

let data: string
let url: string
let store: Store
let target: Target
let processes: Calling[]
beforeEach(async () => {
  data = fs.mkdtempSync(path.join(os.tmpdir(), 'holdpoint-circuits-'))
  store = await openStore(data)
  target = new Target()
  await new Promise<void>((done) => target.server.listen(0, '127.0.0.1', done))
  url = `http://127.0.0.1:${(target.server.address() as AddressInfo).port}`
  processes = [new Calling(data, url), new Calling(data, url)]
})
afterEach(async () => {
  for (const { child } of processes) child.kill('SIGKILL')
  target.answer()
  target.server.close()
  await store.close()
  fs.rmSync(data, { recursive: true, force: true })
})

const all = (work: (one: Calling) => Promise<void>) => Promise.all(processes.map(work))
const downstream = 'host:127.0.0.1:1'
const state = async () =>
  (await store.circuits.get(circuitId('workflow:storm', downstream)))?.state.calculated
/** Looks until it is so; the test's own time bounds it. */
const until = async (isSo: () => Promise<boolean>) => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe('two processes on one store', () => {
  it('open one breaker together, send one probe, and close it together', async () => {
    await all((one) => one.says('open', 5))
    target.isWell = true
    target.asked = 0
    // While the probe is out, whoever asks is told so, and nobody else is let go.
    await Promise.race(processes.map((one) => one.says('probing', 20)))
    expect([target.asked, target.most]).toEqual([1, 1])
    expect(await state()).toMatchObject({ status: 'half_open' })
    const answering = setInterval(() => target.answer(), 5)
    await all((one) => one.says('well', 2))
    clearInterval(answering)
    expect(await state()).toMatchObject({ status: 'closed' })
  })

  it('let nobody go instead of a probe whose process was killed, until its time is over', async () => {
    await all((one) => one.says('open', 5))
    target.isWell = true
    target.asked = 0
    const waiting = await Promise.race(processes.map(async (one) => one.says('probing').then(() => one)))
    const probing = processes.find((one) => one !== waiting)
    probing?.child.kill('SIGKILL')
    await waiting.says('probing', 50)
    // It may have been killed before it sent anything.
    expect(target.asked).toBeLessThanOrEqual(1)
    expect(await state()).toMatchObject({ status: 'half_open' })
  })

  it('let one probe go when a person says so, and none after it once that has failed', async () => {
    processes.push(new Calling(data, url, 'workflow:flood'), new Calling(data, url, 'workflow:flood'))
    await all((one) => one.says('open', 5))
    const runId = 'run_7f3a0c1e5b1d4c1e9d2a0c1e5b1dc2e1' as RunId
    const hold = { downstream, runId, approval: 'appr_1', heldAt: Date.now() }
    await store.circuits.hold(hold)
    await all((one) => one.says('held', 5))
    for (let round = 1; round <= 2; round++) {
      target.asked = 0
      await store.circuits.letProbesGo(downstream, 'appr_1', Date.now())
      await until(async () => (await store.circuits.news(0)).holds[0]?.approval === '')
      await all((one) => one.says('held', 20))
      expect(target.asked).toBe(1)
      const [held] = (await store.circuits.news(0)).holds
      if (held) await store.circuits.nameHold(held, { runId, approval: 'appr_1' })
    }
  })
})
