import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

/** How long a program may go on finishing effects after it was asked to stop. */
export const drainMs = 40_000
/** npm passes on a Ctrl-C that the program has had from the terminal already: within this it is the same one. */
const sameSignalMs = 1_500
/** How often it is looked whether npm is still there. */
const parentAskedMs = 500

export interface ProgramEnd {
  name: string
  code: number | null
  signal: NodeJS.Signals | null
}

/**
 * Programs that one command started and will stop: each in a process group of its own, so that a Ctrl-C in the
 * terminal reaches this one alone, and it decides the order. Each is told when this process is gone (follow-parent.mjs).
 */
export class Children {
  readonly #root: string
  readonly #running = new Map<ChildProcess, string>()
  readonly #ended: ((end: ProgramEnd) => void)[] = []

  constructor(root: string) {
    this.#root = root
  }

  /** Starts a Node program; its output goes to this terminal. */
  start(name: string, args: string[], env: Record<string, string>): void {
    const follow = pathToFileURL(path.join(this.#root, 'lib/cli/follow-parent.mjs')).href
    const child = spawn(process.execPath, ['--import', follow, ...args], {
      cwd: this.#root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      detached: process.platform !== 'win32',
    })
    this.#running.set(child, name)
    const gone = (code: number | null, signal: NodeJS.Signals | null) => {
      if (!this.#running.delete(child)) return
      // What it started and left behind would hold its port.
      signalGroup(child, 'SIGKILL')
      for (const listener of this.#ended) listener({ name, code, signal })
    }
    child.on('exit', gone)
    child.on('error', () => gone(127, null))
  }

  /** Calls back whenever a program ended, for whatever reason. */
  onEnd(listener: (end: ProgramEnd) => void): void {
    this.#ended.push(listener)
  }

  /** Asks all to stop, waits for them, and ends those that do not. */
  async stop(): Promise<void> {
    if (this.#running.size === 0) return
    const over = new Promise<void>((resolve) => {
      this.onEnd(() => {
        if (this.#running.size === 0) resolve()
      })
    })
    // Each passes it on to what it started: told by the group as well, those would take it for a second Ctrl-C.
    for (const child of this.#running.keys()) child.kill('SIGTERM')
    const timer = setTimeout(() => {
      console.error(
        `Not stopped after ${drainMs / 1000} s: ${[...this.#running.values()].join(', ')}. Ending it.`,
      )
      this.kill()
    }, drainMs)
    await over
    clearTimeout(timer)
  }

  /** Ends all at once. The ledger is safe; what was under way is found again at the next start. */
  kill(): void {
    for (const child of this.#running.keys()) signalGroup(child, 'SIGKILL')
  }
}

/** The program and all it started. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (process.platform !== 'win32' && child.pid) process.kill(-child.pid, signal)
    else child.kill(signal)
  } catch {
    // Nobody is left of it.
  }
}

/**
 * Resolves when this process is asked to stop, or when npm, which started it, was: npm's shell ends on a signal without
 * passing it on, and nobody would be left to stop what runs here. A second Ctrl-C calls `atOnce`.
 */
export function askedToStop(atOnce: () => void): Promise<void> {
  return new Promise((resolve) => {
    let firstAt = 0
    const asked = () => {
      if (firstAt === 0) {
        firstAt = Date.now()
        resolve()
      } else if (Date.now() - firstAt > sameSignalMs) atOnce()
    }
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, asked)
    if (!startedByNpm()) return
    const parent = process.ppid
    const watch = setInterval(() => {
      if (process.ppid === parent) return
      clearInterval(watch)
      if (firstAt === 0) asked()
    }, parentAskedMs)
    watch.unref()
  })
}

/** By `npm start` or `npm run dev` themselves, not by a script of someone else's that leaves this behind on purpose. */
function startedByNpm(): boolean {
  return ['start', 'dev'].includes(process.env.npm_lifecycle_event ?? '')
}
