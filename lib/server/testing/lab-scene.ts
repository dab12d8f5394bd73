/*
 * An installation with the lab beside it, for tests of what happens when agents fail: the lab is a process of its own, its
 * agents are asked over loopback, and the installation and its worker are those of the product.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { freePorts } from '@/e2e/house'
import { labId } from '@/examples/lab/lab-agent'
import { storyAgents } from '@/examples/lab/story'
import { registerAgent } from '@/lib/auth/agents'
import type { RollbackId, RunId } from '@/lib/base/ids'
import { agentProtocols } from '@/lib/base/protocols'
import { parseClaims } from '@/lib/ect/claims'
import { unverifiedPayload } from '@/lib/ect/jws'
import { factOf } from '@/lib/engine/fact-codec'
import type { Fact } from '@/lib/engine/facts'
import type { Approval, Run } from '@/lib/engine/run'
import type { Verdict } from '@/lib/hitl/terms'
import type { RollbackScope } from '@/lib/rollback/terms'
import type { ApprovalNow } from '@/lib/view/approval-wire'
import type { MakeFail } from '@/lib/view/lab-wire'
import type { RollbackPlanView } from '@/lib/view/rollback-wire'
import type { Timer } from '@/lib/worker/timer'
import { startWorker, type Worker } from '@/lib/worker/worker'
import { getApprovalNow, postDecision } from '../handlers/approvals'
import { postPlan, postRollback } from '../handlers/rollbacks'
import { startRun } from '../runs'
import { importWorkflow } from '../workflows'
import { type Browser, TestConsole } from './console'

const root = path.resolve(import.meta.dirname, '../../..')
const by = 'person:otto'
const startsWithinMs = 60_000

export type LabName = (typeof storyAgents)[number]['name']

export class LabScene {
  readonly #secret = randomBytes(16).toString('hex')
  #lab: ChildProcess | undefined
  #port = 0
  #worker: Worker

  private constructor(readonly at: TestConsole) {
    this.#worker = startWorker(at.house.ports, 'test')
  }

  /** `lab: false`: without the lab. `timer`: the time of everything that runs here, and not of the lab. */
  static async open({ lab = true, timer }: { lab?: boolean; timer?: Timer } = {}): Promise<LabScene> {
    const scene = new LabScene(await TestConsole.open({ timer }))
    if (!lab) return scene
    writeFileSync(scene.#keysFile, JSON.stringify(scene.at.house.keys.jwks()))
    scene.#port = await freePorts(storyAgents.length + 1)
    await scene.startLab()
    for (const { id, name } of storyAgents) await scene.register(id, name, scene.baseUrl(name))
    return scene
  }

  get #keysFile(): string {
    return path.join(this.at.folder, 'console-keys.json')
  }

  async close(): Promise<void> {
    await this.#worker.stop()
    await this.killLab()
    await this.at.close()
  }

  /** While this is done, no worker works here. */
  async atRest(work: () => Promise<void>): Promise<void> {
    await this.#worker.stop()
    try {
      await work()
    } finally {
      this.#worker = startWorker(this.at.house.ports, 'test')
    }
  }

  baseUrl(name: LabName): string {
    return `http://127.0.0.1:${this.#port + storyAgents.findIndex((agent) => agent.name === name)}`
  }

  /** Registers an agent by the keys it publishes where it really is; `baseUrl` may be something in between. */
  async register(id: string, name: string, baseUrl: string, keysAt = baseUrl): Promise<void> {
    const jwks = await (await fetch(`${keysAt}/.well-known/jwks.json`)).json()
    const entry = { id, name, baseUrl, jwks, domain: 'lab', protocols: [...agentProtocols] }
    await registerAgent(this.at.house.auth, entry, by)
  }

  async startLab(): Promise<void> {
    const args = ['--import', 'tsx', 'examples/lab/main.ts', '--data', path.join(this.at.folder, 'lab')]
    const more = ['--base-port', String(this.#port), '--console-jwks', this.#keysFile]
    const lab = spawn(process.execPath, [...args, ...more], {
      cwd: root,
      env: { ...process.env, HOLDPOINT_LAB_SECRET: this.#secret },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#lab = lab
    let said = ''
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`The lab did not start: ${said}`)), startsWithinMs)
      const hear = (chunk: Buffer) => {
        said += chunk
        if (!/^faults /m.test(said)) return
        clearTimeout(timer)
        resolve()
      }
      lab.stdout.on('data', hear)
      lab.stderr.on('data', hear)
      lab.once('exit', () => reject(new Error(`The lab ended: ${said}`)))
    })
  }

  /** `kill -9` of all six agents. */
  async killLab(): Promise<void> {
    const lab = this.#lab
    if (!lab || lab.exitCode !== null || lab.signalCode !== null) return
    const ended = new Promise((resolve) => lab.once('exit', resolve))
    lab.kill('SIGKILL')
    await ended
  }

  async fail(name: LabName, fault: MakeFail): Promise<void> {
    const url = `http://127.0.0.1:${this.#port + storyAgents.length}/faults/${name}`
    const headers = { authorization: `Bearer ${this.#secret}` }
    const answer = await fetch(url, { method: 'PUT', headers, body: JSON.stringify(fault) })
    if (!answer.ok) throw new Error(`The lab answered ${answer.status} when ${name} was to fail`)
  }

  /** Imports a workflow; gives its version. */
  async workflow(text: string, filename = 'workflow.atd.json'): Promise<string> {
    return (await importWorkflow(this.at.house, text, { by, filename })).record.version
  }

  /** One of examples/workflows. */
  example(name: string): Promise<string> {
    const filename = `${name}.atd.json`
    return this.workflow(readFileSync(path.join(root, 'examples/workflows', filename), 'utf8'), filename)
  }

  start(version: string): Promise<RunId> {
    return startRun(this.at.house, { version, input: {}, by, dryRun: false })
  }

  look<T>(run: RunId, reader: (run: Run) => T): Promise<T> {
    return this.at.house.book.read(run, reader)
  }

  /** Waits until the run is as wanted; it is looked at whenever a token is added. Throws with `what` after so long. */
  async until<T>(
    run: RunId,
    what: string,
    reader: (run: Run) => T | undefined,
    withinMs = 30_000,
  ): Promise<T> {
    const { store } = this.at.house
    let added: () => void = () => undefined
    const off = store.onAppend(() => added())
    const late = AbortSignal.timeout(withinMs)
    late.addEventListener('abort', () => added())
    try {
      for (;;) {
        const next = new Promise<void>((resolve) => {
          added = resolve
        })
        const found = await this.look(run, reader)
        if (found !== undefined) return found
        if (late.aborted) throw new Error(`${what} did not come about; ${await this.#told(run)}`)
        await next
      }
    } finally {
      off()
    }
  }

  /** Waits for a fact of the run. */
  async untilFact<K extends Fact['type']>(run: RunId, type: K): Promise<Extract<Fact, { type: K }>> {
    let seen = 0
    for (;;) {
      const facts = await this.facts(run)
      const found = facts.find((fact) => fact.type === type)
      if (found) return found as Extract<Fact, { type: K }>
      seen = facts.length
      await this.until(run, `A fact "${type}"`, ({ seq }) => (seq > seen ? true : undefined))
    }
  }

  async facts(run: RunId): Promise<Fact[]> {
    const rows = await this.at.house.store.ledger.rows(run, 0, 10_000)
    return rows.map((row) => factOf(parseClaims(unverifiedPayload(row.token))))
  }

  /** The open questions of runs, in the order of the runs. */
  async questions(runs: readonly RunId[]): Promise<Approval[]> {
    const found = runs.map((run) =>
      this.look(run, ({ approvals }) =>
        [...approvals.values()].filter(({ state }) => state.status === 'open'),
      ),
    )
    return (await Promise.all(found)).flat()
  }

  /** Waits for an open question of that kind. */
  question(run: RunId, kind: Approval['kind']): Promise<Approval> {
    return this.until(run, `A question "${kind}"`, ({ approvals }) =>
      [...approvals.values()].find((asked) => asked.kind === kind && asked.state.status === 'open'),
    )
  }

  /** Answers a question as a person of this console, who looks at it first. */
  async answer(who: Browser, { id, action }: Approval, verdict: Verdict, comment = ''): Promise<void> {
    const params = { approval: id }
    const now = await who.ask<ApprovalNow>(getApprovalNow, 'GET', { params })
    const body = { verdict, action, comment, seen: now.body.changed?.seen }
    const { status, body: said } = await who.ask(postDecision, 'POST', { params, body })
    if (status !== 200) throw new Error(`The answer "${verdict}" was refused: ${JSON.stringify(said)}`)
  }

  /** Plans a rollback as the console does, and asks for exactly that; gives the rollback's id. */
  async rollBack(who: Browser, run: RunId, node: string, scope: RollbackScope): Promise<RollbackId> {
    const params = { run }
    const planned = await who.ask<RollbackPlanView>(postPlan, 'POST', { params, body: { node, scope } })
    const body = { node, scope, digest: planned.body.digest, reason: 'The monitor is out of order.' }
    const asked = await who.ask<{ id: RollbackId }>(postRollback, 'POST', { params, body })
    if (asked.status !== 202) throw new Error(`The rollback was refused: ${JSON.stringify(asked.body)}`)
    return asked.body.id
  }

  /** The bytes of an agent's state file. */
  stateOf(name: LabName, file: string): Buffer {
    return readFileSync(path.join(this.at.folder, 'lab', name, file))
  }

  async #told(run: RunId): Promise<string> {
    const facts = await this.facts(run)
    return `the run has ${facts.map((fact) => fact.type).join(', ')}`
  }
}

/** A workflow of one step by an agent of the lab. */
export function oneStep(name: string, agent: LabName, operation: string, more: object = {}): string {
  return JSON.stringify({
    wf_id: name,
    description: `Asks ${agent} for ${operation}`,
    nodes: [
      {
        ...{
          id: 'step',
          label: operation,
          hitl_required: false,
          resource_hints: { priority: 'normal', timeout_s: 5 },
        },
        ...{ agent: labId(agent), agent_config: { operation }, ...more },
      },
    ],
    edges: [],
  })
}
