/*
 * A place for hostile workflows: a folder with a data folder in it, and the two ways a workflow comes to run. `alone` is
 * a person's own command line, bounded by what that person may do; `served` is an installation as the server opens it,
 * bounded by what it was given. Everything is real, and when a scene closes nothing of it may still run.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import type { Json } from '@/lib/base/json'
import { startWorker, type Worker } from '@/lib/worker/worker'
import type { Installation } from '../installation'
import { createLog } from '../log'
import { type OneShotOptions, outcomeOf, type RunOutcome, runOnce } from '../one-shot'
import { openInstallation } from '../open-installation'
import { startRun } from '../runs'
import { importWorkflow } from '../workflows'

const never = new AbortController().signal
const by = 'person:mallory'

/** Seconds after which a run that should have ended long ago is cancelled. */
const tooLongS = 30

export interface Ask {
  input?: Json
  timeoutS?: number
  dryRun?: boolean
}

export class Scene {
  readonly #closers: (() => Promise<unknown> | unknown)[] = []
  readonly #log: string[] = []
  #house: Promise<Installation> | undefined

  private constructor(
    /** Where the workflow's own file lies; everything below belongs to this scene alone. */
    readonly folder: string,
  ) {}

  static async open(): Promise<Scene> {
    const folder = await realpath(await mkdtemp(path.join(os.tmpdir(), 'hp-hostile-')))
    const scene = new Scene(folder)
    await mkdir(scene.files, { recursive: true })
    await mkdir(scene.authored)
    return scene
  }

  get dataDir(): string {
    return path.join(this.folder, 'data')
  }

  /** The one folder that steps of the installation may work in. */
  get files(): string {
    return path.join(this.dataDir, 'files')
  }

  /** Where workflows' own files are: schemas, policies, children. */
  get authored(): string {
    return path.join(this.folder, 'authored')
  }

  /** Every line that the installation has logged, at level trace. */
  get log(): string {
    return this.#log.join('')
  }

  /** Writes a file, by a path inside the scene's folder. Returns its absolute path. */
  async file(name: string, text: string | Uint8Array): Promise<string> {
    const place = path.join(this.folder, name)
    await mkdir(path.dirname(place), { recursive: true })
    await writeFile(place, text)
    return place
  }

  /** A local HTTP server; gives its address. */
  async server(listener: RequestListener): Promise<string> {
    const server = createServer(listener)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    this.atEnd(() => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  /** Sets a variable of this process for as long as the scene is open. */
  variable(name: string, value: string): void {
    const before = process.env[name]
    process.env[name] = value
    this.atEnd(() => {
      if (before === undefined) delete process.env[name]
      else process.env[name] = before
    })
  }

  atEnd(close: () => Promise<unknown> | unknown): void {
    this.#closers.push(close)
  }

  /** The workflow on a person's own command line. */
  alone(text: string, ask: Ask & Pick<OneShotOptions, 'resume'> = {}): Promise<RunOutcome> {
    return runOnce({
      dataDir: this.dataDir,
      workflow: { filename: 'hostile.toml', text },
      workflowFolder: this.authored,
      roots: [this.files],
      input: ask.input ?? {},
      timeoutS: ask.timeoutS ?? tooLongS,
      dryRun: ask.dryRun ?? false,
      signal: never,
      ...(ask.resume === undefined ? {} : { resume: ask.resume }),
    })
  }

  /** The workflow in the installation. */
  async served(text: string, ask: Ask = {}): Promise<RunOutcome> {
    const house = await this.house()
    const { record } = await importWorkflow(house, text, { filename: 'hostile.toml', by })
    const { input = {}, dryRun = false } = ask
    const runId = await startRun(house, { version: record.version, input, by, dryRun })
    return outcomeOf(house, runId, by, { timeoutS: ask.timeoutS ?? tooLongS, signal: never })
  }

  /** The installation as the server opens it, with a worker and a log that is kept. */
  house(): Promise<Installation> {
    this.#house ??= this.#open()
    return this.#house
  }

  async #open(): Promise<Installation> {
    const log = createLog('trace', { write: (line: string) => void this.#log.push(line) })
    const house = await openInstallation({
      dataDir: this.dataDir,
      origin: 'http://localhost:3000',
      authoredFolders: [this.authored],
      unconfined: false,
      log,
    })
    const worker: Worker = startWorker(house.ports, 'hostile')
    this.atEnd(async () => {
      await worker.stop()
      await house.close()
    })
    return house
  }

  /** Ends everything, and tells what still runs then: nothing. */
  async close(): Promise<string[]> {
    for (const close of this.#closers.splice(0).reverse()) await close()
    const left = running(this.folder)
    await rm(this.folder, { recursive: true, force: true })
    return left
  }
}

/** Command lines of processes that are children of this one, or name the folder. The dead that nobody collected are none. */
export function running(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
        const [state = '', parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        const isOurs = Number(parent) === process.pid || line.includes(folder)
        return isOurs && !'ZX'.includes(state) ? [`${pid} ${line}`] : []
      } catch {
        return [] // It ended while we looked.
      }
    })
}

/** The whole body of a request. */
export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/** A workflow's text: one start at the first of its nodes, and the rest as it is given. */
export function workflow(first: string, rest: string): string {
  return `name = "hostile"\n[[start_nodes]]\nname = "main"\nsource = "manual"\nentry_node = "${first}"\n${rest}`
}

/** One node's table. Strings that are given as they are: `type` and more lines of TOML. */
export function node(id: string, type: string, ...lines: string[]): string {
  return `[[nodes]]\nid = "${id}"\ntype = "${type}"\n${lines.join('\n')}\n`
}

export function edge(from: string, to: string, ...lines: string[]): string {
  return `[[edges]]\nfrom = "${from}"\nto = "${to}"\n${lines.join('\n')}\n`
}
