/*
 * A real installation in a folder of its own, to measure: store, keys, run book and worker as the server has them.
 * Only what a step does to the world is left out. `write_file` keeps what it was told in memory instead of a file, so
 * that a figure says what the engine costs and not what files cost; its tokens, checkpoints and values are real.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { hashJson } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import type { JsonObject } from '@/lib/base/json'
import type { Runner } from '@/lib/runners/runner'
import type { Installation } from '@/lib/server/installation'
import { createLog } from '@/lib/server/log'
import { openInstallation } from '@/lib/server/open-installation'
import { startRun } from '@/lib/server/runs'
import { importWorkflow } from '@/lib/server/workflows'
import type { WorkerPorts } from '@/lib/worker/ports'

export interface BenchHouse {
  dir: string
  installation: Installation
  /** The installation's, with the local runner in the place of `write_file`. */
  ports: WorkerPorts
  /** Imports a workflow, in any language or as an ATD descriptor, and gives its version. */
  version(workflow: string | JsonObject): Promise<string>
  start(version: string, content: string): Promise<RunId>
  close(): Promise<void>
}

interface HouseOptions {
  /** Replaces the local runner's, to hold steps back. */
  perform?: Runner['perform']
  /** Stays when the house is closed; by default a folder that is thrown away. */
  dataDir?: string
}

export async function openBenchHouse({ perform, dataDir }: HouseOptions = {}): Promise<BenchHouse> {
  const dir = dataDir ?? fs.mkdtempSync(path.join(os.tmpdir(), 'holdpoint-bench-'))
  const installation = await openInstallation({
    dataDir: dir,
    origin: 'http://localhost:3999',
    log: createLog('error'),
    // Benchmarks take checkpoints faster than any workflow should.
    checkpointLimits: 'none',
  })
  const runner = perform ? { ...localRunner, perform } : localRunner
  const { runnerOf } = installation.ports
  return {
    dir,
    installation,
    ports: {
      ...installation.ports,
      runnerOf: (kind) => (kind === 'write_file' ? runner : runnerOf(kind)),
    },
    async version(workflow) {
      const text = typeof workflow === 'string' ? workflow : JSON.stringify(workflow)
      return (await importWorkflow(installation, text, { by: 'person:bench' })).record.version
    },
    start: (version, content) =>
      startRun(installation, { version, input: { content }, by: 'person:bench', dryRun: false }),
    async close() {
      await installation.close()
      if (dataDir === undefined) fs.rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** A chain of consequential steps: each has a task token, a checkpoint and a completion. */
export function chain(name: string, steps: number): JsonObject {
  const id = (at: number) => `step-${at}`
  return {
    wf_id: name,
    description: 'A chain of steps',
    policy: { roots: [{ path: 'bench', access: 'write' }] },
    nodes: Array.from({ length: steps }, (_, at) => ({
      id: id(at),
      label: `Step ${at}`,
      reversible: true,
      hitl_required: false,
      resource_hints: { priority: 'normal', timeout_s: 3600 },
      action: { type: 'write_file', path: `bench/${at}.txt`, content_from: 'trigger.content' },
    })),
    edges: Array.from({ length: steps - 1 }, (_, at) => ({ from: id(at), to: id(at + 1) })),
  }
}

/** Consequential and reversible, as `write_file` is, on a world that costs nothing. */
const localRunner: Runner = {
  async resolve({ node, values }) {
    const content = (await values.at('trigger.content')) ?? ''
    return { path: node.config.path ?? '', content }
  },
  async describe(action, { node, visit }) {
    const target = String(action.path)
    return {
      action: {
        kind: 'write_file',
        node: node.id,
        visit,
        do: action,
        consequence: 'reversible',
        target,
        sentence: `Replace ${target} with ${String(action.content).length} bytes`,
        undo: 'restore',
        undoSentence: 'Put back what was there',
      },
    }
  },
  async snapshot(action) {
    const state = {
      stood: 'file',
      path: action.target,
      mode: '0644',
      bytes: 'aG9zdG5hbWUgZWRnZS1yb3V0ZXItMDcK',
    }
    return { state, hash: hashJson(state), undo: 'restore' }
  },
  async perform(action, effects) {
    return { output: { path: action.target, bytes: 30, key: effects.idempotencyKey } }
  },
}
