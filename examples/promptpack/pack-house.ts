/*
 * An installation as a server has it, for running the packs: its folder for work holds the tools they call, their
 * scripted answers are read from beside them, and what a run did is read back as people see it, in the trace.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { z } from 'zod'
import type { Principal } from '@/lib/auth/principal'
import type { Hash } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import type { Json } from '@/lib/base/json'
import type { Run } from '@/lib/engine/run'
import { giveEvent } from '@/lib/server/give-event'
import { ledgerPage } from '@/lib/server/handlers/runs'
import type { Installation } from '@/lib/server/installation'
import { createLog } from '@/lib/server/log'
import { outcomeOf, type RunOutcome } from '@/lib/server/one-shot'
import { openInstallation } from '@/lib/server/open-installation'
import { openReachable } from '@/lib/server/reachable'
import { startRun } from '@/lib/server/runs'
import { importWorkflow } from '@/lib/server/workflows'
import { RunFold } from '@/lib/view/run-fold'
import { shortValue } from '@/lib/view/short-value'
import { TraceView } from '@/lib/view/trace-view'
import { contentOf } from '@/lib/view/value-content'
import { readJson } from '@/lib/worker/run-book'
import { startWorker, type Worker } from '@/lib/worker/worker'

export const packFolder = path.resolve(import.meta.dirname)

export const ada: Principal = {
  kind: 'person',
  id: 'ada',
  name: 'ada',
  roles: ['operator', 'coordinator', 'author'],
  session: 's',
}

/** One row of the trace, as it is read aloud: `implement (2)`, `TestsFailed`, and each artifact on arriving there. */
export interface ReadRow {
  /** The token it begins at. */
  seq: number
  to: string
  event: string
  values: Record<string, string>
}

export class PackHouse {
  private constructor(
    readonly house: Installation,
    /** Where tools work; relative paths of steps start here. */
    readonly work: string,
    private readonly folder: string,
    private readonly worker: Worker,
  ) {}

  static async open(): Promise<PackHouse> {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'hp-packs-'))
    const work = path.join(folder, 'work-folder')
    mkdirSync(work)
    for (const name of ['tools', 'slug-project']) {
      cpSync(path.join(packFolder, name), path.join(work, name), { recursive: true })
    }
    const server = path.join(packFolder, 'servers/dataset-server.mjs')
    const mcpStdio = `${process.execPath} ${server} ${path.join(work, 'work/shop.db')}`
    const house = await openInstallation({
      dataDir: folder,
      origin: 'http://localhost:3996',
      log: createLog('silent'),
      roots: [work],
      authoredFolders: [packFolder],
      reachable: await openReachable(folder, { mcpStdio }),
    })
    return new PackHouse(house, work, folder, startWorker(house.ports, 'packs'))
  }

  async close(): Promise<void> {
    await this.worker.stop()
    await this.house.close()
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Begins a run of a pack; `instead` stands in its text before. */
  async begin(filename: string, input: Json, instead: readonly [string, string][] = []): Promise<RunId> {
    const written = readFileSync(path.join(packFolder, filename), 'utf8')
    const text = instead.reduce((all, [old, other]) => all.replaceAll(old, other), written)
    const { record } = await importWorkflow(this.house, text, { filename, by: 'person:ada' })
    return startRun(this.house, { version: record.version, input, by: 'person:ada', dryRun: false })
  }

  /** The run at its end, or where it waits for somebody. */
  settled(run: RunId): Promise<RunOutcome> {
    return outcomeOf(this.house, run, 'person:ada', { timeoutS: 60, signal: new AbortController().signal })
  }

  async give(run: RunId, event: string, comment: string): Promise<void> {
    await giveEvent(this.house, run, ada, { event, comment })
  }

  look<T>(run: RunId, reader: (run: Run) => T): Promise<T> {
    return this.house.book.read(run, reader)
  }

  /** The runs that a run's states were done by, in the order they began: the steps of each, and what was said in it. */
  async turns(run: RunId): Promise<{ path: string[]; talk: string[] }[]> {
    const { items } = await this.house.store.runs.list({ parent: run }, { limit: 100 })
    const inOrder = [...items].sort((a, b) => a.startedAt - b.startedAt)
    return Promise.all(
      inOrder.map(async ({ runId }) => ({
        path: await this.look(runId, ({ walk }) => walk?.path.map(({ visit }) => visit.node) ?? []),
        talk: talkOf((await this.settled(runId)).finalValue),
      })),
    )
  }

  private async fold(run: RunId): Promise<RunFold> {
    const { graph } = await this.house.graphOf(await this.look(run, ({ start }) => start?.version ?? ''))
    const fold = new RunFold(graph)
    for (let next: number | undefined = 0; next !== undefined; ) {
      const page = await ledgerPage(this.house, run, next, 1_000)
      fold.add(page.rows)
      next = page.next
    }
    return fold
  }

  /** The artifact trace as its screen tells it; `—` where an artifact is missing. */
  async trace(run: RunId): Promise<ReadRow[]> {
    const view = new TraceView(await this.fold(run)).update()
    return Promise.all(
      view.rows.map(async (row): Promise<ReadRow> => {
        const { node, visit, event } = row.transition
        const cells = view.columns.map(async ({ name, mode }, column): Promise<[string, string]> => {
          const { last, count } = view.value(row, column)
          if (!last) return [name, '—']
          if (mode === 'append') return [name, `${count} ${count === 1 ? 'entry' : 'entries'}`]
          return [name, await this.shown(last.hash, last.mediaType)]
        })
        return {
          seq: row.transition.seq,
          to: view.rows.some((other) => other.transition.node === node && other.transition.visit > 1)
            ? `${node} (${visit})`
            : node,
          event: event ?? '(entry)',
          values: Object.fromEntries(await Promise.all(cells)),
        }
      }),
    )
  }

  private async shown(hash: Hash, mediaType: string): Promise<string> {
    const value = await this.house.store.ledger.value(hash)
    if (!value) throw new Error(`The store has no ${hash}`)
    return shortValue(contentOf(mediaType, value.bytes), value.bytes.byteLength)
  }

  /** The value of one writing of an artifact, counted from 0. */
  async written(run: RunId, name: string, number: number): Promise<Json> {
    const hashes = await this.look(run, ({ artifactWrites }) =>
      artifactWrites.filter(({ artifact }) => artifact === name).map(({ value }) => value),
    )
    return (await readJson(this.house.store.ledger, hashes[number] ?? '')) ?? null
  }

  /** What an artifact is now: of an `append` slot its entries, of any other its value. */
  async artifact(run: RunId, name: string): Promise<Json[]> {
    const hashes = await this.look(
      run,
      ({ artifacts }) => artifacts.get(name)?.map(({ value }) => value) ?? [],
    )
    const values = await Promise.all(hashes.map((hash) => readJson(this.house.store.ledger, hash)))
    return values.map((value) => value ?? null)
  }
}

const message = z.object({ text: z.string() })
const turnEnd = z.object({ outcome: z.object({ talk: z.array(message) }) })

function talkOf(finalValue: Json): string[] {
  return turnEnd.parse(finalValue).outcome.talk.map(({ text }) => text)
}
