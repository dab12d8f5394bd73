/*
 * One command, run to its end: no shell, no look-up of its name, an environment of two variables, and a time limit that
 * holds for all it started (process-tree.ts). What it writes is kept up to a bound and read to the end all the same, so
 * that a chatty command is never blocked by our not listening.
 *
 *   spawn ──▶ exit ─────────────▶ end all that is left ──▶ pipes close ──▶ result
 *     ╰──▶ time is up, or given up ──▶ end all ──▶ exit ───╯
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { access, constants } from 'node:fs/promises'
import os from 'node:os'
import type { Readable } from 'node:stream'
import { endLineage, type Lineage } from './process-tree'
import type { ChildLimits } from './runner'

/** Of each of stdout and stderr. */
export const maxOutputBytes = 65_536

/** How long the pipes may stay open after everything that is known was killed: what holds them then is not ours. */
const maxDrainMs = 2_000

const environment = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LANG: 'C.UTF-8',
} as const

export interface ChildCommand {
  /** Absolute, without symlinks. */
  command: string
  args: readonly string[]
  cwd: string
  timeoutMs: number
  limits: ChildLimits
  /** Names the command among all that run; the same name marks the same processes. */
  key: string
  /** Ends it early. */
  signal: AbortSignal
  now(): number
}

export interface ChildEnd {
  /** -1 when a signal ended it. */
  exitCode: number
  signal: number | null
  stdout: string
  stderr: string
  /** Something was left out of stdout or stderr. */
  truncated: boolean
  timedOut: boolean
  /** It was ended because the signal fired. */
  givenUp: boolean
  durationMs: number
}

/** Runs a command and ends all it started. Rejects with the system's error when it cannot be started. */
export async function runChild(wanted: ChildCommand): Promise<ChildEnd> {
  const mark = markOf(wanted.key)
  const prlimit = await limiter()
  const [file, args] = prlimit ? [prlimit, limitedArgs(wanted, mark)] : [wanted.command, [...wanted.args]]
  const startedAt = wanted.now()
  const child = spawn(file, args, {
    cwd: wanted.cwd,
    env: environment as unknown as NodeJS.ProcessEnv, // Next's types ask for NODE_ENV in every environment.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  })
  const [stdout, stderr] = [kept(child.stdout), kept(child.stderr)]
  const exited = new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, name) => resolve([code, name]))
  })
  if (child.pid === undefined) return exited.then(() => Promise.reject(new Error('It has no process id')))
  const lineage: Lineage = { pid: child.pid, mark: prlimit ? mark : undefined, pipes: pipesOf(child) }
  const limit = watch(wanted, lineage)
  try {
    const [code, name] = await exited
    limit.stop()
    await limit.ending
    await endLineage(lineage)
    await Promise.race([Promise.all([stdout.closed, stderr.closed]), waited(maxDrainMs)])
    return {
      exitCode: code ?? -1,
      signal: name === null ? null : os.constants.signals[name],
      stdout: stdout.text(),
      stderr: stderr.text(),
      truncated: stdout.truncated() || stderr.truncated(),
      ...limit.why(),
      durationMs: Math.max(0, Math.round(wanted.now() - startedAt)),
    }
  } finally {
    limit.stop()
    child.stdout.destroy()
    child.stderr.destroy()
  }
}

/** Ends the lineage when time is up or the signal fires. */
function watch({ timeoutMs, signal }: ChildCommand, lineage: Lineage) {
  let cause: 'none' | 'timeout' | 'given_up' = 'none'
  const watching = { ending: Promise.resolve() as Promise<unknown>, stop, why }
  const end = (why: 'timeout' | 'given_up') => {
    if (cause !== 'none') return
    cause = why
    watching.ending = endLineage(lineage)
  }
  const timer = setTimeout(() => end('timeout'), timeoutMs)
  const giveUp = () => end('given_up')
  signal.addEventListener('abort', giveUp, { once: true })
  if (signal.aborted) giveUp()
  function stop() {
    clearTimeout(timer)
    signal.removeEventListener('abort', giveUp)
  }
  function why() {
    return { timedOut: cause === 'timeout', givenUp: cause === 'given_up' }
  }
  return watching
}

async function waited(ms: number): Promise<void> {
  await new Promise<void>((resolve) => setTimeout(resolve, ms).unref())
}

/** The first bytes of a stream; the rest is read and dropped. */
function kept(stream: Readable) {
  const chunks: Buffer[] = []
  let room = maxOutputBytes
  let isCut = false
  stream.on('data', (chunk: Buffer) => {
    if (chunk.byteLength > room) isCut = true
    if (room > 0) chunks.push(chunk.subarray(0, room))
    room = Math.max(0, room - chunk.byteLength)
  })
  const closed = new Promise<void>((resolve) => {
    stream.once('close', resolve)
    stream.once('error', () => resolve()) // A broken pipe ends like a closed one: what came before is kept.
  })
  return {
    closed,
    text: () => Buffer.concat(chunks).toString('utf8'),
    truncated: () => isCut,
  }
}

/** The pipes a child writes to, as every holder's /proc entry names them. Found at the child, which has both. */
function pipesOf(child: { pid?: number }): ReadonlySet<string> {
  const pipes = new Set<string>()
  for (const end of [1, 2]) {
    try {
      const leads = readlinkSync(`/proc/${child.pid}/fd/${end}`)
      if (leads.startsWith('pipe:') || leads.startsWith('socket:')) pipes.add(leads)
    } catch {
      // It is gone already, or this system has no /proc: one trace less.
    }
  }
  return pipes
}

const limiters = ['/usr/bin/prlimit', '/bin/prlimit']

let foundLimiter: Promise<string | undefined> | undefined

/** Where util-linux' prlimit stands: it sets limits and becomes the command, with the same process id. */
function limiter(): Promise<string | undefined> {
  foundLimiter ??= (async () => {
    for (const file of limiters) {
      if (
        await access(file, constants.X_OK).then(
          () => true,
          () => false,
        )
      )
        return file
    }
    return undefined
  })()
  return foundLimiter
}

function limitedArgs({ command, args, limits }: ChildCommand, mark: string): string[] {
  return [
    `--rttime=${mark}:${mark}`,
    ...(limits.memoryMb === undefined ? [] : [`--as=${limits.memoryMb * 1_048_576}`]),
    ...(limits.cpuS === undefined ? [] : [`--cpu=${limits.cpuS}`]),
    command,
    ...args,
  ]
}

/** 16 digits that begin with 1 to 9: microseconds of real-time scheduling that no process ever uses. */
function markOf(key: string): string {
  const number = createHash('sha256').update(`holdpoint command ${key}`).digest().readBigUInt64BE()
  return String(1_000_000_000_000_000n + (number % 8_000_000_000_000_000n))
}
