/*
 * A process for the tests to kill: node --import tsx lib/store/commit-storm.ts DATA RUNS COMMITS [SHARED_WID]
 *
 * Commits to RUNS runs at once, COMMITS times each or for ever (0), and writes a line for each commit once it is
 * acknowledged: `<run id> <number of tokens>`. Every commit is two rows, a value and a sealed checkpoint that belong
 * together. With a shared run it also appends there, against whoever else does.
 */
import { sha256 } from '@/lib/base/hash'
import { runIdOf } from '@/lib/base/ids'
import { isProblem } from '@/lib/base/problem'
import type { Commit } from '@/lib/engine/ports'
import { openStore } from './open'
import { aRun, firstCommit, nextCommit, type TestRun } from './story'

const [data = '', runs = '1', commits = '0', sharedWid] = process.argv.slice(2)
const store = await openStore(data)

function pair(run: TestRun, seq: number): Commit {
  const commit = nextCommit(run, seq, 2)
  const bytes = new TextEncoder().encode(`${run.runId} ${seq}`)
  const jti = commit.rows[0]?.jti ?? ''
  const sealed = { jti, runId: run.runId, node: 'n', visit: 1, keyId: 'k', sealed: bytes, expiresAt: 9e15 }
  return {
    ...commit,
    values: [{ hash: sha256(bytes), mediaType: 'text/plain', bytes }],
    checkpoints: [sealed],
  }
}

const acknowledge = (run: TestRun, seq: number) => process.stdout.write(`${run.runId} ${seq}\n`)

async function alone(run: TestRun, times: number): Promise<void> {
  await store.ledger.commit(firstCommit(run))
  for (let index = 0; index < times; index++) {
    await store.ledger.commit(pair(run, 1 + 2 * index))
    acknowledge(run, 3 + 2 * index)
  }
}

/** Appends against rivals: a refused commit is decided again on what is there now. */
async function together(run: TestRun, times: number): Promise<void> {
  for (let done = 0; done < times; ) {
    const seq = (await store.runs.get(run.runId))?.seq ?? 0
    try {
      await store.ledger.commit(pair(run, seq))
      acknowledge(run, seq + 2)
      done++
    } catch (error) {
      if (!isProblem(error, 'sequence_taken')) throw error
    }
  }
}

const times = commits === '0' ? Number.POSITIVE_INFINITY : Number(commits)
const work = Array.from({ length: Number(runs) }, () => alone(aRun(), times))
if (sharedWid) work.push(together({ wid: sharedWid, runId: runIdOf(sharedWid) }, times))
await Promise.all(work)
await store.close()
