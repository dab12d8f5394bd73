/*
 * An installation of its own for a browser test: a data folder that is thrown away, a free port, and the console as
 * `holdpoint serve` runs it. It can be stopped, killed and started again on the same data, as an operator would.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test as base } from '@playwright/test'

const root = path.resolve(import.meta.dirname, '..')
const startsWithinMs = 120_000
const stopsWithinMs = 45_000

export class Installation {
  readonly data = mkdtempSync(path.join(tmpdir(), 'holdpoint-e2e-'))
  #port = 0
  #process: ChildProcess | undefined
  #said = ''

  /** The console's address, without a slash at the end. */
  get origin(): string {
    return `http://localhost:${this.#port}`
  }

  /** What the console has printed since it was started last. */
  get said(): string {
    return this.#said
  }

  /** Starts the console, on the same port as before if there was one, and waits until it says where it is. */
  async start(options: { lab?: boolean } = {}): Promise<void> {
    if (this.#port === 0) this.#port = await freePort()
    this.#said = ''
    const args = [
      'serve',
      '--port',
      String(this.#port),
      '--data',
      this.data,
      ...(options.lab ? ['--lab'] : []),
    ]
    const child = spawn(process.execPath, ['lib/cli/holdpoint.mjs', ...args], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#process = child
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(this.#failed('did not say where it is')), startsWithinMs)
      const hear = (chunk: Buffer) => {
        this.#said += chunk.toString()
        if (this.#said.includes('Stop with Ctrl-C')) {
          clearTimeout(timer)
          resolve()
        }
      }
      child.stdout.on('data', hear)
      child.stderr.on('data', hear)
      child.once('exit', (code) => {
        clearTimeout(timer)
        reject(this.#failed(`ended with exit code ${code}`))
      })
    })
  }

  /** The one-time link of the first sign-in, while nobody has an account. */
  firstLink(): string {
    return readFileSync(path.join(this.data, 'first-sign-in.txt'), 'utf8').trim()
  }

  /** Ctrl-C, and waits until it is over. */
  async stop(): Promise<void> {
    await this.#end('SIGINT')
  }

  /** As the machine's kernel would: nothing is finished, nothing is released. What it started follows it. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL')
    await portIsFree(this.#port)
  }

  /** Stops it and throws its data away. */
  async remove(): Promise<void> {
    await this.stop()
    rmSync(this.data, { recursive: true, force: true })
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    child.kill(signal)
    const timer = setTimeout(() => child.kill('SIGKILL'), stopsWithinMs)
    await ended
    clearTimeout(timer)
  }

  #failed(what: string): Error {
    return new Error(`The console ${what}. It said:\n${this.#said}`)
  }
}

/** One installation for each worker, started once: the tests of a file go on where the one before ended. */
export const test = base.extend<object, { installation: Installation }>({
  installation: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads a fixture's needs from this pattern.
    async ({}, use) => {
      const installation = new Installation()
      await installation.start({ lab: true })
      await use(installation)
      await installation.remove()
    },
    { scope: 'worker', timeout: startsWithinMs + stopsWithinMs },
  ],
  baseURL: async ({ installation }, use) => use(installation.origin),
})

export { expect } from '@playwright/test'

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

/** Resolves when nothing listens on the port any more. */
async function portIsFree(port: number): Promise<void> {
  for (;;) {
    const isFree = await new Promise<boolean>((resolve) => {
      const probe = createServer()
      probe.once('error', () => resolve(false))
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
    })
    if (isFree) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
