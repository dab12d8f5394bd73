/*
 * Runs of an engine beside the raw cost of the same bytes in the same transactions. The two take turns, round by round,
 * so that a machine that is busy is busy for both; the ratio is the median of the rounds' own ratios.
 */
import type { KeyObject } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { RunId } from '@/lib/base/ids'
import { openRawWriter, type RawWriter } from '@/lib/store/raw-writer'
import { startWorker } from '@/lib/worker/worker'
import { atMost, type Figure, median, shown, type Took, took } from './figures'
import { type BenchHouse, openBenchHouse } from './house'
import { noteTransactions, replay, replayable, type Transaction } from './transactions'

export interface Round {
  steps: number
  engine: Took
  /** The raw cost with signatures made on the one thread, and made in the thread pool. */
  raw: Record<Signing, Took>
  transactions: number
  commits: number
  tokens: number
  bytes: number
}

type Signing = 'here' | 'pooled'

/** What the rounds say, with the goal: at most twice the raw cost. */
export function figuresOf(name: string, rounds: readonly Round[]): Figure[] {
  const each = (figure: (round: Round) => number) => median(rounds.map(figure))
  const rawMs = (signing: Signing) => each(({ raw }) => raw[signing].ms)
  // The raw cost is that of the quicker way to sign; which that is, all rounds say together.
  const signing = rawMs('here') < rawMs('pooled') ? 'here' : 'pooled'
  const figures: [string, string, (round: Round) => number][] = [
    ['', 'steps/s', ({ steps, engine }) => (steps / engine.ms) * 1000],
    [', raw cost', 'steps/s', ({ steps, raw }) => (steps / raw[signing].ms) * 1000],
    [': our CPU to the raw cost’s', 'times', ({ engine, raw }) => engine.cpuMs / raw[signing].cpuMs],
    [': commits per transaction', 'commits', (round) => round.commits / round.transactions],
    [': tokens per transaction', 'tokens', (round) => round.tokens / round.transactions],
    [': written per step', 'bytes', (round) => round.bytes / round.steps],
  ]
  return [
    atMost(
      2,
      `steps, ${name}: raw throughput to ours`,
      each(({ engine, raw }) => engine.ms / raw[signing].ms),
      'times',
    ),
    ...figures.map(([what, unit, figure]) => shown(`steps, ${name}${what}`, each(figure), unit)),
  ]
}

export interface Size {
  runs: number
  steps: number
  rounds: number
}

/** Drives the runs round by round, and pays the raw cost of each round's bytes after it. */
export async function rounds(
  size: Size,
  say: (line: string) => void,
  importIt: (house: BenchHouse) => Promise<string>,
): Promise<Round[]> {
  const house = await openBenchHouse()
  const rawDir = fs.mkdtempSync(path.join(os.tmpdir(), 'holdpoint-raw-'))
  const writer = await openRawWriter(rawDir)
  const worker = startWorker(house.ports, 'bench')
  const version = await importIt(house)
  const waiting = new Map<RunId, () => void>()
  const noted = noteTransactions(house.installation.store, (runId) => waiting.get(runId)?.())
  const measured: Round[] = []
  // The first round warms up what is compiled while it runs, and is not counted.
  for (let round = 0; round <= size.rounds; round++) {
    noted.take()
    const engine = await took(() => driveAll(house, version, size.runs, waiting))
    const transactions = noted.take()
    const key = house.installation.keys.current.privateKey
    const raw = {
      here: await rawCost(transactions, writer, key, 'here'),
      pooled: await rawCost(transactions, writer, key, 'pooled'),
    }
    const steps = size.runs * size.steps
    say(
      `${size.runs} at once: ${inWords(steps, engine)}; raw ${inWords(steps, raw.here)}, pooled ${inWords(steps, raw.pooled)}`,
    )
    if (round > 0) measured.push({ steps, engine, raw, ...sizeOf(transactions) })
  }
  noted.stop()
  await worker.stop()
  writer.close()
  await house.close()
  fs.rmSync(rawDir, { recursive: true, force: true })
  return measured
}

function inWords(steps: number, { ms, cpuMs }: Took): string {
  return `${Math.round((steps / ms) * 1000)} steps/s (${Math.round((cpuMs / steps) * 1000)} µs of CPU each)`
}

/** Starts the runs together and resolves when the last of them has ended. */
async function driveAll(
  house: BenchHouse,
  version: string,
  runs: number,
  waiting: Map<RunId, () => void>,
): Promise<void> {
  const all = Array.from({ length: runs }, async (_, at) => {
    const runId = await house.start(version, `hostname edge-router-${at} ${performance.now()}\n`)
    await new Promise<void>((resolve) => waiting.set(runId, resolve))
    waiting.delete(runId)
  })
  await Promise.all(all)
}

async function rawCost(
  transactions: Transaction[],
  writer: RawWriter,
  key: KeyObject,
  signing: Signing,
): Promise<Took> {
  const isSecond = signing === 'pooled'
  const renamed = transactions.map((commits) => commits.map((commit) => underAnotherName(commit, isSecond)))
  const ready = replayable(renamed)
  writer.prepare(new Set(renamed.flatMap((commits) => commits.map(({ runId }) => runId))))
  return took(() => replay(ready, writer, key, signing === 'pooled'))
}

/** The same bytes can be inserted once only; the second time under ids that differ in one letter. */
function underAnotherName(commit: Transaction[number], again: boolean): Transaction[number] {
  if (!again) return commit
  const renamed = (text: string) => `${text.slice(0, -1)}~`
  const runId = renamed(commit.runId) as RunId
  return {
    ...commit,
    runId,
    rows: commit.rows.map((row) => ({ ...row, runId, jti: renamed(row.jti) })),
    values: commit.values.map((value) => ({ ...value, hash: renamed(value.hash) })),
    checkpoints: commit.checkpoints.map((point) => ({ ...point, runId, jti: `~${point.jti.slice(1)}` })),
  }
}

function sizeOf(transactions: readonly Transaction[]) {
  const commits = transactions.flat()
  const rows = commits.flatMap((commit) => commit.rows)
  const bytes =
    rows.reduce((sum, { token }) => sum + token.length, 0) +
    commits.flatMap(({ values }) => values).reduce((sum, value) => sum + value.bytes.byteLength, 0) +
    commits.flatMap(({ checkpoints }) => checkpoints).reduce((sum, { sealed }) => sum + sealed.byteLength, 0)
  return { transactions: transactions.length, commits: commits.length, tokens: rows.length, bytes }
}
