/*
 * npx tsx lib/store/bench-commit.ts [--folder DIR]
 *
 * Durable commits a second through the store, beside what SQLite takes for the same rows in the same transactions with
 * nothing else (the "raw" lines). Rounds of both alternate, so that a noisy machine is noisy for both; medians are shown.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import type { Commit } from '@/lib/engine/ports'
import { openStore } from './open'
import { aRow, aRun, firstCommit, nextCommit, type TestRun } from './story'

const { values } = parseArgs({ options: { folder: { type: 'string', default: os.tmpdir() } } })
const folder = fs.mkdtempSync(path.join(values.folder, 'holdpoint-bench-'))
const store = await openStore(path.join(folder, 'store'))
const rawFile = path.join(folder, 'raw', 'holdpoint.db')
await (await openStore(path.dirname(rawFile))).close()
const raw = new Database(rawFile)
raw.pragma('synchronous = FULL')
raw.pragma('foreign_keys = ON')
const begin = raw.prepare('BEGIN IMMEDIATE')
const end = raw.prepare('COMMIT')
const insert = raw.prepare(
  'INSERT INTO ledger (run_id, seq, jti, token, prev_hash, hash) VALUES (?, ?, ?, ?, ?, ?)',
)

const rounds = 7
const steps = 300
const width = 200
const widthSteps = 10

/** Two tokens of a usual size, as a step of the engine appends them. */
function step(run: TestRun, seq: number): Commit {
  const rows = [aRow(run.runId, seq + 1), aRow(run.runId, seq + 2)]
  for (const row of rows) row.token += 'x'.repeat(900)
  return nextCommit(run, seq, 0, { rows })
}

async function start(count: number): Promise<TestRun[]> {
  const runs = Array.from({ length: count }, aRun)
  await Promise.all(runs.map((run) => store.ledger.commit(firstCommit(run))))
  const create = raw.prepare(
    `INSERT INTO runs (id, wid, version, workflow_name, started_by, seq, status, started_at, updated_at, node_count,
       done_count, failed_count, open_approvals) VALUES (?, ?, '', '', '', 1, '', 0, 0, 0, 0, 0, 0)`,
  )
  raw.transaction(() => {
    for (const { runId, wid } of runs) create.run(runId, wid)
  })()
  return runs
}

function rawGroup(commits: Commit[]): void {
  begin.run()
  for (const { rows } of commits) {
    for (const row of rows) insert.run(row.runId, row.seq, row.jti, row.token, row.prevHash, row.hash)
  }
  end.run()
}

async function perSecond(count: number, work: () => Promise<void> | void): Promise<number> {
  const from = performance.now()
  await work()
  return (count / (performance.now() - from)) * 1_000
}

const median = (figures: number[]) => [...figures].sort((a, b) => a - b)[figures.length >> 1] ?? 0
const figures = { one: [] as number[], rawOne: [] as number[], many: [] as number[], rawMany: [] as number[] }

for (let round = 0; round < rounds; round++) {
  const [run] = (await start(1)) as [TestRun]
  const story = Array.from({ length: steps }, (_, index) => step(run, 1 + 2 * index))
  const oneByOne = async () => {
    for (const commit of story) await store.ledger.commit(commit)
  }
  const rawOneByOne = () => {
    for (const commit of story) rawGroup([commit])
  }
  const runs = await start(width)
  const waves = Array.from({ length: widthSteps }, (_, index) =>
    runs.map((each) => step(each, 1 + 2 * index)),
  )
  const atOnce = async () => {
    await Promise.all(
      runs.map(async (_, index) => {
        for (const wave of waves) await store.ledger.commit(wave[index] as Commit)
      }),
    )
  }
  const rawAtOnce = () => {
    for (const wave of waves) rawGroup(wave)
  }
  figures.rawOne.push(await perSecond(steps, rawOneByOne))
  figures.one.push(await perSecond(steps, oneByOne))
  figures.rawMany.push(await perSecond(width * widthSteps, rawAtOnce))
  figures.many.push(await perSecond(width * widthSteps, atOnce))
}

const show = (name: string, ours: number[], theirs: number[]) => {
  const ratio = median(theirs.map((figure, index) => figure / (ours[index] ?? 1)))
  const line = `${Math.round(median(ours))} commits/s, raw ${Math.round(median(theirs))}, ratio ${ratio.toFixed(2)}`
  console.log(`${name.padEnd(22)} ${line}`)
}
show('1 run', figures.one, figures.rawOne)
show(`${width} runs at once`, figures.many, figures.rawMany)
await store.close()
raw.close()
fs.rmSync(folder, { recursive: true })
