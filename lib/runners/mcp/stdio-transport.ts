/*
 * An MCP server as a child process, spoken to in lines of JSON-RPC. The SDK's own transport starts a process in our
 * group, hands it more of the environment and ends the process alone; this one
 *
 *   - clears the environment but for PATH, HOME and what was declared;
 *   - makes the server the leader of its own group and ends everything it started along with it;
 *   - holds a line up to a bound, and counts what is no message, so that rubbish ends in a sentence.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { endLineage, type Lineage } from '@/lib/runners/process-tree'

/** Longest message of a server. */
export const maxMessageBytes = 8 * 1_048_576
/** Lines that are no message before the server is given up: some print a greeting. */
const maxRubbishLines = 50
/** How long a server may take to end by itself once its input is closed. */
const graceMs = 300

export interface StdioServer {
  command: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  cwd: string
  /** Reads one line as a message; throws when it is none. */
  parse(line: string): JSONRPCMessage
}

/** Stands for an answer that was none; outside what JSON-RPC reserves. */
export const noAnswerCode = -31_999

/** Why the server is gone, in words that follow its name. */
export class ServerGone extends Error {}

export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** Set when it ended by itself or was ended for what it did. */
  gone?: ServerGone

  private readonly server: StdioServer
  private child?: ChildProcess
  private lineage?: Lineage
  private closing?: Promise<void>
  private chunks: Buffer[] = []
  private held = 0
  private rubbish = 0

  constructor(server: StdioServer) {
    this.server = server
  }

  /** Starts the process. Rejects with ServerGone when there is no such command. */
  start(): Promise<void> {
    const { command, args, env, cwd } = this.server
    return new Promise((resolve, reject) => {
      const child = spawn(command, [...args], {
        cwd,
        env: env as NodeJS.ProcessEnv,
        detached: true,
        // Its log may hold anything; it is nobody's here.
        stdio: ['pipe', 'pipe', 'ignore'],
        windowsHide: true,
      })
      this.child = child
      child.once('error', (error: NodeJS.ErrnoException) => {
        this.gone ??= new ServerGone(`could not be started: ${error.code ?? 'it failed'}`)
        reject(this.gone)
        void this.close()
      })
      child.once('spawn', () => {
        this.lineage = { pid: child.pid ?? 0, pipes: outputOf(child.pid) }
        resolve()
      })
      child.once('exit', (code, signal) => {
        if (!this.closing) this.gone ??= new ServerGone(`ended by itself (${signal ?? `exit code ${code}`})`)
        void this.close()
      })
      child.stdin?.on('error', () => undefined) // Its exit tells the same, with the reason.
      child.stdout?.on('error', () => undefined)
      child.stdout?.on('data', (chunk: Buffer) => this.read(chunk))
    })
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input = this.child?.stdin
    if (!input?.writable || this.gone) throw this.gone ?? new ServerGone('is not running')
    if (input.write(`${JSON.stringify(message)}\n`)) return
    await new Promise<void>((resolve) => {
      const go = () => {
        input.off('drain', go).off('close', go)
        resolve()
      }
      input.on('drain', go).on('close', go)
    })
  }

  /** Ends the process and all it started. */
  close(): Promise<void> {
    this.closing ??= this.end().finally(() => this.onclose?.())
    return this.closing
  }

  private async end(): Promise<void> {
    const { child, lineage } = this
    this.chunks = []
    this.held = 0
    if (!child || !lineage) return
    const running = () => child.exitCode === null && child.signalCode === null
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    child.stdin?.end()
    if (running() && !this.gone) {
      let timer: NodeJS.Timeout | undefined
      await Promise.race([exited, new Promise((resolve) => (timer = setTimeout(resolve, graceMs)))])
      clearTimeout(timer)
    }
    await endLineage(lineage)
    if (running()) await exited
    child.stdout?.destroy()
  }

  private read(chunk: Buffer): void {
    if (this.gone || this.closing) return
    let rest = chunk
    for (let at = rest.indexOf(10); at !== -1; at = rest.indexOf(10)) {
      this.chunks.push(rest.subarray(0, at))
      rest = rest.subarray(at + 1)
      const line = Buffer.concat(this.chunks).toString('utf8').trim()
      this.chunks = []
      this.held = 0
      if (line !== '') this.hear(line)
      if (this.gone) return
    }
    this.chunks.push(rest)
    this.held += rest.byteLength
    if (this.held > maxMessageBytes) this.giveUp('sent a message larger than 8 MiB')
  }

  private hear(line: string): void {
    let message: JSONRPCMessage
    try {
      if (line.length > maxMessageBytes) return this.giveUp('sent a message larger than 8 MiB')
      message = this.server.parse(line)
    } catch {
      const asked = answeredId(line)
      // It answers a request, and not as the protocol has it: whoever asked need not wait for more.
      if (asked !== undefined) {
        this.onmessage?.({
          jsonrpc: '2.0',
          id: asked,
          error: { code: noAnswerCode, message: 'no MCP answer' },
        })
      }
      this.rubbish++
      if (this.rubbish > maxRubbishLines) this.giveUp(`wrote ${this.rubbish} lines that are no MCP messages`)
      return
    }
    this.onmessage?.(message)
  }

  private giveUp(why: string): void {
    this.gone ??= new ServerGone(why)
    void this.close()
  }
}

/** The id of the request that a broken message answers. */
function answeredId(line: string): number | undefined {
  try {
    const { id, method } = JSON.parse(line) as { id?: unknown; method?: unknown }
    return typeof id === 'number' && method === undefined ? id : undefined
  } catch {
    return undefined
  }
}

/** The pipe it writes to, as /proc names it: whoever still holds it was started by it. */
function outputOf(pid: number | undefined): ReadonlySet<string> {
  try {
    const leads = readlinkSync(`/proc/${pid}/fd/1`)
    return new Set(/^(pipe|socket):/.test(leads) ? [leads] : [])
  } catch {
    return new Set() // It is gone already, or this system has no /proc.
  }
}
