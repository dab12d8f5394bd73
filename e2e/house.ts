/*
 * A house: an installation of its own for tests that use Holdpoint from outside, as people and programs do. A data folder
 * that is thrown away, free ports, the console and the lab as `holdpoint serve --lab` runs them. It can be stopped,
 * killed and started again on the same data. Everything it started is ended by its process id when it is removed.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'

export const root = path.resolve(import.meta.dirname, '..')
export const startsWithinMs = 300_000
export const stopsWithinMs = 45_000

/** The first administrator of every house. */
export const ada = { name: 'ada', password: 'correct horse battery staple' }

/** Ports the lab takes, one after the other. */
const labPorts = 7

interface StartOptions {
  lab?: boolean
  env?: Record<string, string>
}

export class House {
  #data = ''
  #port = 0
  #labPort = 0
  #process: ChildProcess | undefined
  #said = ''

  /** The data folder; there is one from the first start on. */
  get data(): string {
    return this.#data
  }

  /** The console's address, without a slash at the end. */
  get origin(): string {
    return `http://localhost:${this.#port}`
  }

  /** What the console has printed since it was started last. */
  get said(): string {
    return this.#said
  }

  /** Puts files into the data folder before the first start. */
  prepare(put: (data: string) => void): void {
    if (this.#data === '') this.#data = mkdtempSync(path.join(tmpdir(), 'holdpoint-e2e-'))
    put(this.#data)
  }

  /** Starts the console, on the same ports as before if there were any, and waits until it says where it is. */
  async start({ lab = false, env = {} }: StartOptions = {}): Promise<void> {
    if (this.#port === 0) {
      this.prepare(() => {})
      this.#port = await freePorts(1)
      this.#labPort = await freePorts(labPorts)
    }
    this.#said = ''
    const args = ['serve', '--port', String(this.#port), '--data', this.data, ...(lab ? ['--lab'] : [])]
    const child = spawn(process.execPath, ['lib/cli/holdpoint.mjs', ...args], {
      cwd: root,
      env: { ...process.env, HOLDPOINT_LAB_PORT: String(this.#labPort), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#process = child
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(this.#failed('did not say where it is')), startsWithinMs)
      const hear = (chunk: Buffer) => {
        this.#said += chunk.toString()
        if (!this.#said.includes('Stop with Ctrl-C')) return
        clearTimeout(timer)
        resolve()
      }
      child.stdout.on('data', hear)
      child.stderr.on('data', hear)
      child.once('exit', (code) => {
        clearTimeout(timer)
        reject(this.#failed(`ended with exit code ${code}`))
      })
    })
  }

  /** The one-time link of the first sign-in, as it was printed. */
  firstLink(): string {
    const link = new RegExp(`${this.origin}/first-run/\\S+`).exec(this.#said)?.[0]
    if (!link) throw this.#failed('printed no one-time link')
    return link
  }

  /** Where a router of the lab keeps its configuration. */
  routerFile(router: 'edge-router-07' | 'edge-router-08' = 'edge-router-07'): string {
    return path.join(this.data, 'lab', router, 'running-config')
  }

  /** Ctrl-C, and waits until it is over. */
  async stop(): Promise<void> {
    const child = this.#process
    if (!isAlive(child)) return
    const ended = endOf(child)
    child.kill('SIGINT')
    const timer = setTimeout(() => this.#killAll(child), stopsWithinMs)
    await ended
    clearTimeout(timer)
  }

  /** `kill -9` of the console, the lab and what started them: nothing is finished, nothing is released. */
  async kill(): Promise<void> {
    const child = this.#process
    if (!isAlive(child)) return
    const ended = endOf(child)
    this.#killAll(child)
    await ended
    for (let port = this.#labPort; port < this.#labPort + labPorts; port++) await untilFree(port)
    await untilFree(this.#port)
  }

  /** Stops it and throws its data away. */
  async remove(): Promise<void> {
    await this.stop()
    if (this.data) rmSync(this.data, { recursive: true, force: true })
  }

  #killAll(child: ChildProcess): void {
    // First what it started, so that they cannot hear that their parent is gone and finish in good order.
    for (const pid of [...this.#programs('next'), ...this.#programs('dist/lab.js')]) killIfThere(pid)
    child.kill('SIGKILL')
  }

  /** Processes that the command started, whose command line has this in it. */
  #programs(named: string): number[] {
    const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n')
    return rows.flatMap((row) => {
      const [, pid, parent, args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(row) ?? []
      return Number(parent) === this.#process?.pid && args.includes(named) ? [Number(pid)] : []
    })
  }

  #failed(what: string): Error {
    return new Error(`The console ${what}. It said:\n${this.#said}`)
  }
}

function isAlive(child: ChildProcess | undefined): child is ChildProcess {
  return child !== undefined && child.exitCode === null && child.signalCode === null
}

function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => child.once('exit', () => resolve()))
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself just now.
  }
}

/** The first of so many ports in a row that nothing listens on. */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = await anyFreePort()
    const rest = Array.from({ length: count - 1 }, (_, at) => first + 1 + at)
    const free = await Promise.all(rest.map(isFree))
    if (free.every(Boolean) && first + count < 65_536) return first
  }
}

function anyFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}

/** Resolves when nothing listens on the port any more. The system tells nobody when that is, so it is asked. */
async function untilFree(port: number): Promise<void> {
  while (!(await isFree(port))) await new Promise((resolve) => setTimeout(resolve, 50))
}
