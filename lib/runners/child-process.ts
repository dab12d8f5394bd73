/*
 * One command, run to its end: no shell, no look-up of its name, an environment of two variables, and a time limit that
 * holds for all it started (process-tree.ts). What it writes is kept up to a bound and read to the end all the same, so
 * that a chatty command is never blocked by our not listening.
 *
 *   spawn ──▶ exit ─────────────▶ end all that is left ──▶ pipes close ──▶ result
 *     ╰──▶ time is up, or given up ──▶ end all ──▶ exit ───╯
 *
 * When we are killed ourselves, the kernel ends the command (where setpriv can ask for that); what it forked goes on.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { access, constants, readFile } from 'node:fs/promises'
import os from 'node:os'
import type { Readable } from 'node:stream'
import { type OutputPipes, outputPipes } from './output-pipes'
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
  /** Processes it started that could not be ended: another account's, or hanging inside the kernel. */
  leftRunning: number
  durationMs: number
}

/** Runs a command and ends all it started. Rejects with the system's error when it cannot be started. */
export async function runChild(wanted: ChildCommand): Promise<ChildEnd> {
  const pipes = await outputPipes()
  try {
    return await runWith(wanted, pipes)
  } finally {
    await pipes?.handedOver()
    pipes?.stdout.destroy()
    pipes?.stderr.destroy()
  }
}

async function runWith(wanted: ChildCommand, pipes: OutputPipes | undefined): Promise<ChildEnd> {
  const { file, args, mark } = await limited(wanted)
  const startedAt = wanted.now()
  const child = spawn(file, args, {
    cwd: wanted.cwd,
    env: environment as unknown as NodeJS.ProcessEnv, // Next's types ask for NODE_ENV in every environment.
    detached: true,
    stdio: ['ignore', ...(pipes?.writeEnds ?? (['pipe', 'pipe'] as const))],
    windowsHide: true,
  })
  const exited = new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, name) => resolve([code, name]))
  })
  if (child.pid === undefined) return exited.then(() => Promise.reject(new Error('It has no process id')))
  const [stdout, stderr] = [kept(pipes?.stdout ?? child.stdout), kept(pipes?.stderr ?? child.stderr)]
  const lineage: Lineage = { pid: child.pid, mark, pipes: pipes ? new Set(pipes.names) : pipesOf(child) }
  const limit = watch(wanted, lineage)
  try {
    const [[code, name]] = await Promise.all([exited, pipes?.handedOver()])
    limit.stop()
    await limit.ending
    const left = await endLineage(lineage)
    await Promise.race([Promise.all([stdout.closed, stderr.closed]), waited(maxDrainMs)])
    if (file !== wanted.command) throwIfNotBegun(code, stderr.text())
    return {
      exitCode: code ?? -1,
      signal: name === null ? null : os.constants.signals[name],
      stdout: stdout.text(),
      stderr: stderr.text(),
      truncated: stdout.truncated() || stderr.truncated(),
      ...limit.why(),
      leftRunning: left.length,
      durationMs: Math.max(0, Math.round(wanted.now() - startedAt)),
    }
  } finally {
    limit.stop()
    child.stdout?.destroy()
    child.stderr?.destroy()
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
function kept(stream: Readable | null) {
  const chunks: Buffer[] = []
  let room = maxOutputBytes
  let isCut = false
  stream?.on('data', (chunk: Buffer) => {
    if (chunk.byteLength > room) isCut = true
    if (room > 0) chunks.push(chunk.subarray(0, room))
    room = Math.max(0, room - chunk.byteLength)
  })
  const closed = new Promise<void>((resolve) => {
    stream?.once('close', resolve)
    stream?.once('error', () => resolve()) // A broken pipe ends like a closed one: what came before is kept.
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
const enders = ['/usr/bin/setpriv', '/bin/setpriv']

interface Surroundings {
  /** Where util-linux' prlimit stands: it sets limits and becomes the command, with the same process id. */
  prlimit?: string
  /** Where util-linux' setpriv stands: the command dies with us, also when we are killed and can end nothing any more. */
  setpriv?: string
  /** Our own hard limits, which no child may exceed; absent where there is none. */
  own: { rttime?: number; as?: number; cpu?: number }
}

let found: Promise<Surroundings> | undefined

async function look(): Promise<Surroundings> {
  const limits = await readFile('/proc/self/limits', 'latin1').catch(() => undefined)
  if (limits === undefined) return { own: {} }
  // Columns: name, soft limit, hard limit, unit.
  const hard = (name: string) => {
    const value = new RegExp(`^${name} +\\S+ +(\\d+)`, 'm').exec(limits)?.[1]
    return value === undefined ? undefined : Number(value)
  }
  const own = {
    rttime: hard('Max realtime timeout'),
    as: hard('Max address space'),
    cpu: hard('Max cpu time'),
  }
  return { prlimit: await firstOf(limiters), setpriv: await firstOf(enders), own }
}

async function firstOf(programs: readonly string[]): Promise<string | undefined> {
  for (const program of programs) {
    const stands = await access(program, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (stands) return program
  }
  return undefined
}

/** The command with its limits and its mark, as far as this machine can set them. */
async function limited({ command, args, limits, key }: ChildCommand) {
  found ??= look()
  const { prlimit, setpriv, own } = await found
  const ending = setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL']
  const [file = command, ...rest] = [...ending, command, ...args]
  if (prlimit === undefined) return { file, args: rest }
  // Whoever is limited already cannot choose a number: the mark would be refused, and the command with it.
  const mark = own.rttime === undefined ? markOf(key) : undefined
  const memoryBytes = smaller(limits.memoryMb === undefined ? undefined : limits.memoryMb * 1_048_576, own.as)
  const cpuS = smaller(limits.cpuS, own.cpu)
  const options = [
    ...(mark === undefined ? [] : [`--rttime=${mark}:${mark}`]),
    ...(memoryBytes === undefined ? [] : [`--as=${memoryBytes}`]),
    ...(cpuS === undefined ? [] : [`--cpu=${cpuS}`]),
  ]
  if (options.length === 0) return { file, args: rest }
  return { file: prlimit, args: [...options, file, ...rest], mark }
}

/** The wanted limit, or the one there is when that is lower; absent when none is wanted. */
function smaller(wanted: number | undefined, own: number | undefined): number | undefined {
  return wanted === undefined ? undefined : Math.min(wanted, own ?? wanted)
}

/** What prlimit or setpriv says when it could not become the command. Throws as a start without it would. */
function throwIfNotBegun(code: number | null, stderr: string): void {
  if (code !== 126 && code !== 127) return
  const why = /^(?:prlimit|setpriv): failed to execute [^\n]*: ([^:\n]+)\n$/.exec(stderr)?.[1]
  if (why !== undefined) throw Object.assign(new Error(why), { code: startErrnos[why] ?? why })
}

const startErrnos: Readonly<Record<string, string>> = {
  'No such file or directory': 'ENOENT',
  'Permission denied': 'EACCES',
  'Exec format error': 'ENOEXEC',
  'Argument list too long': 'E2BIG',
}

/** 16 digits that begin with 1 to 9: microseconds of real-time scheduling that no process ever uses. */
function markOf(key: string): string {
  const number = createHash('sha256').update(`holdpoint command ${key}`).digest().readBigUInt64BE()
  return String(1_000_000_000_000_000n + (number % 8_000_000_000_000_000n))
}
