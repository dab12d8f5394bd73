/*
 * `holdpoint serve`, and what `npm start` ends in: starts the console (Next's server, which hosts the engine) and, when
 * asked, the lab; waits until the console answers; says where it is and how to sign in; stops both on Ctrl-C.
 *
 * What the console's server is told, in its environment:
 *
 *   HOLDPOINT_DATA             the data folder, absolute
 *   HOLDPOINT_ORIGIN           the address people use, for links and for telling same-site requests; no slash at the end
 *   HOLDPOINT_AUTHORED         folders that files named by a workflow's author are read from: schemas, scripts, policies
 *   HOLDPOINT_ROOTS            folders that workflows may work in, parted as in PATH; <data>/files by default
 *   HOLDPOINT_LAB              1: the lab is there; bring its agents, workflows and first runs along. Else 0
 *   HOLDPOINT_LAB_DATA         folder of the lab's own state
 *   HOLDPOINT_LAB_SECRET       drawn at each start: with it the console makes agents of the lab fail
 *   HOLDPOINT_OPA_URL          an Open Policy Agent that decides Rego policies; HOLDPOINT_OPA_TOKEN is sent to it as bearer
 *   HOLDPOINT_MAX_CHECKPOINTS  live checkpoints of one workflow at most; 10,000. HOLDPOINT_CHECKPOINTS_PER_MINUTE: 600
 *   HOLDPOINT_TRUSTED_CERT_HEADER  where a proxy passes on agents' client certificates, with its secret in
 *                              HOLDPOINT_TRUSTED_PROXY_SECRET (lib/server/doors/client-certificate.ts)
 *   HOLDPOINT_OPENED           the note of `holdpoint open`: the data folder is a bundle's, and nothing is written (lib/server/opened.ts)
 *   HOLDPOINT_FIRST_LINK_FILE  where to leave the one-time link while nobody has an account (mode 0600)
 *   NEXT_MANUAL_SIG_HANDLE     1: the server drains on SIGTERM by itself (lib/server/boot.ts)
 *   NEXT_EXIT_TIMEOUT_MS       as long as that may take, where Next's development server would wait 0.1 s
 *   PORT, HOSTNAME             as Next knows them
 *
 * The lab is told HOLDPOINT_LAB_DATA, HOLDPOINT_LAB_SECRET, HOLDPOINT_DATA and HOLDPOINT_ORIGIN. Both stop on SIGTERM, and when this process
 * is gone. Only loopback is listened on unless --host says otherwise.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { preparePacks } from '@/examples/lab/packs'
import { askedToStop, Children, drainMs, type ProgramEnd } from './children'
import { type DataFolder, dataFolder } from './data-folder'
import { exitCode } from './exit-codes'
import { UsageError } from './usage-error'

export interface ServeOptions {
  port?: number
  host: string
  origin?: string
  data?: string
  lab?: boolean
  dev?: boolean
}

const defaultPort = 3000
/** Where the lab listens (examples/lab/main.ts): this port and those after it, one for each agent. */
const defaultLabPort = 4701
/** Six agents, and where they are made to fail. */
const labPorts = 7
const labGoneWithinMs = 2_000
/** The development server builds what it needs first. */
const answersWithinMs = 120_000
const askAgainMs = 100

/** Serves until it is asked to stop. Returns 0 then; 5 when the console ended by itself or never answered. */
export async function serve(options: ServeOptions): Promise<number> {
  const root = installationRoot()
  const { host } = options
  const port = options.port ?? portFromEnvironment()
  const data = dataFolder(options.data)
  const origin = originOf(options, port)
  makeDataFolder(data)
  await mustHaveNoServer(data)
  await mustBeFree(host, port)

  const children = new Children(root)
  const ended = new Promise<ProgramEnd>((resolve) => {
    children.onEnd((end) => (end.name === 'lab' ? tellLabEnded(end) : resolve(end)))
  })
  const asked = askedToStop(() => children.kill())
  const lab = path.join(root, 'dist/lab.js')
  const withLab = options.lab === true && existsSync(lab) && (await labPortsAreFree())
  const env = environment({ ...options, lab: withLab }, data, origin, port)
  if (withLab) Object.assign(env, bringPacks(root, data))
  if (withLab) children.start('lab', [lab], env)
  const next = path.join(root, 'node_modules/next/dist/bin/next')
  children.start('console', [next, options.dev ? 'dev' : 'start', '-H', host, '-p', String(port)], env)

  const over = new AbortController()
  const answering = answers(host, port, over.signal)
  const outcome = await Promise.race([answering, ended, asked.then(() => 'asked' as const)])
  // Otherwise a console that ended by itself would go on being asked, and this process with it.
  over.abort()
  if (outcome === 'answers') {
    sayHowToSignIn(origin, data)
    const end = await Promise.race([ended, asked.then(() => 'asked' as const)])
    return finish(end, children)
  }
  return finish(outcome, children)
}

async function finish(end: ProgramEnd | 'asked' | 'silent', children: Children): Promise<number> {
  if (end === 'asked')
    console.log('\nStopping: steps under way may finish. Press Ctrl-C again to end at once.')
  await children.stop()
  if (end === 'asked') {
    console.log('Stopped. Runs go on where they are at the next start.')
    return exitCode.ok
  }
  if (end === 'silent') console.error(`The console did not answer within ${answersWithinMs / 1000} s.`)
  else {
    const how = end.signal ? `by ${end.signal}` : `with exit code ${end.code}`
    console.error(`The console ended by itself, ${how}. Nothing that was recorded is lost; start it again.`)
  }
  return exitCode.failed
}

function environment(
  options: ServeOptions,
  data: DataFolder,
  origin: string,
  port: number,
): Record<string, string> {
  return {
    HOLDPOINT_DATA: data.path,
    HOLDPOINT_ORIGIN: origin,
    HOLDPOINT_LAB: options.lab ? '1' : '0',
    HOLDPOINT_LAB_DATA: data.lab,
    ...(options.lab ? { HOLDPOINT_LAB_SECRET: randomBytes(32).toString('base64url') } : {}),
    HOLDPOINT_FIRST_LINK_FILE: data.firstLink,
    NEXTAUTH_URL: origin,
    PORT: String(port),
    HOSTNAME: options.host,
    NEXT_TELEMETRY_DISABLED: '1',
    NEXT_MANUAL_SIG_HANDLE: '1',
    NEXT_EXIT_TIMEOUT_MS: String(drainMs),
    NODE_ENV: options.dev ? 'development' : 'production',
  }
}

/**
 * The example packs with the lab: what they work with, and leave to read it. Folders that the environment names are
 * somebody's own choice; then nothing is put anywhere.
 */
function bringPacks(root: string, data: DataFolder): Record<string, string> {
  if (process.env.HOLDPOINT_ROOTS !== undefined || process.env.HOLDPOINT_AUTHORED !== undefined) return {}
  const files = path.join(data.path, 'files')
  preparePacks({
    examples: path.join(root, 'examples/promptpack'),
    files,
    toolsFile: path.join(data.path, 'tools.json'),
  })
  return { HOLDPOINT_AUTHORED: files }
}

/** The checkout: the folder that holds Next and the built console, from this file or its bundle upwards. */
export function installationRoot(): string {
  for (let folder = import.meta.dirname; ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, 'next.config.mjs'))) return folder
    if (folder === path.dirname(folder)) {
      throw new UsageError('The console is not beside this program; start it from a checkout with: npm start')
    }
  }
}

function portFromEnvironment(): number {
  const text = process.env.PORT
  if (text === undefined || text === '') return defaultPort
  const port = Number(text)
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port
  throw new UsageError(`PORT is "${text.slice(0, 40)}"; expected a whole number from 1 to 65535`)
}

/** `localhost` for loopback and for all addresses: browsers hold it for secure, and people can read it. */
function originOf(options: ServeOptions, port: number): string {
  if (options.origin !== undefined) {
    if (!URL.canParse(options.origin) || !/^https?:/.test(options.origin)) {
      throw new UsageError(
        `--origin is "${options.origin.slice(0, 80)}"; expected an address such as https://ops.example.com`,
      )
    }
    return new URL(options.origin).origin
  }
  const name = ['127.0.0.1', '::1', '0.0.0.0', '::'].includes(options.host) ? 'localhost' : options.host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

/**
 * The console takes the folder's lock itself; asked here first, a folder that another server has is one sentence and
 * not a console that ends. Throws Problem `data_folder_taken` and what else the lock throws.
 */
async function mustHaveNoServer(data: DataFolder): Promise<void> {
  const { lockForServer } = await import('@/lib/store/server-lock')
  lockForServer(data.path).release()
}

/** False, after one sentence, when one of the lab's ports is taken: the console then starts without the lab. */
async function labPortsAreFree(): Promise<boolean> {
  const base = Number(process.env.HOLDPOINT_LAB_PORT ?? defaultLabPort)
  if (!Number.isInteger(base) || base < 1 || base > 65_535 - labPorts) return true
  for (let port = base; port < base + labPorts; port++) {
    if (await isFreeSoon(port)) continue
    console.error(
      `The example agents are left out: they need the ports ${base} to ${base + labPorts - 1} on 127.0.0.1, and ${port} is taken by another program; stop it, or name the first of seven free ports in HOLDPOINT_LAB_PORT.`,
    )
    return false
  }
  return true
}

/** A lab that was killed with its console may need a moment to be gone. */
async function isFreeSoon(port: number): Promise<boolean> {
  const until = Date.now() + labGoneWithinMs
  while (await listeningFault('127.0.0.1', port)) {
    if (Date.now() > until) return false
    await new Promise((resolve) => setTimeout(resolve, askAgainMs))
  }
  return true
}

/** Throws UsageError saying why nothing can listen there. */
export async function mustBeFree(host: string, port: number): Promise<void> {
  const fault = await listeningFault(host, port)
  if (fault) throw new UsageError(whyNotListening(fault, host, port))
}

/** Why nothing can listen there; undefined when something can. */
function listeningFault(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', resolve)
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(undefined)))
  })
}

function whyNotListening(error: NodeJS.ErrnoException, host: string, port: number): string {
  if (error.code === 'EADDRINUSE') {
    return `Port ${port} on ${host} is taken by another program; stop it, or choose another with --port`
  }
  if (error.code === 'EACCES')
    return `This user may not listen on port ${port}; choose one above 1023 with --port`
  return `Nothing can listen on ${host}, port ${port}: ${error.message}`
}

function makeDataFolder(data: DataFolder): void {
  try {
    mkdirSync(data.path, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new UsageError(`The data folder ${data.path} cannot be made: ${(error as Error).message}`)
  }
}

/** Resolves when the console answers anything at all over HTTP, or when it has been silent for too long. */
export async function answers(host: string, port: number, over: AbortSignal): Promise<'answers' | 'silent'> {
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  const url = `http://${address.includes(':') ? `[${address}]` : address}:${port}/api/v1/health`
  const until = Date.now() + answersWithinMs
  while (Date.now() < until && !over.aborted) {
    try {
      const signal = AbortSignal.any([over, AbortSignal.timeout(answersWithinMs)])
      await fetch(url, { redirect: 'manual', signal })
      return 'answers'
    } catch {
      await new Promise((resolve) => setTimeout(resolve, askAgainMs))
    }
  }
  return 'silent'
}

function sayHowToSignIn(origin: string, data: DataFolder): void {
  console.log(`\nHoldpoint is at ${origin}`)
  if (existsSync(data.firstLink)) {
    console.log('Nobody has an account yet. This link makes you the administrator; it works once:')
    console.log(`\n  ${readFileSync(data.firstLink, 'utf8').trim()}\n`)
  } else {
    console.log('Sign in with your account there.')
  }
  console.log(`Data: ${data.path}. Stop with Ctrl-C.`)
}

function tellLabEnded({ code, signal }: ProgramEnd): void {
  if (code === 0) return
  console.error(`The lab ended (${signal ?? `exit code ${code}`}); the console goes on without it.`)
}
