import { describe, expect, it } from 'vitest'
import { hashJson } from '@/lib/base/hash'
import { runIdOf } from '@/lib/base/ids'
import {
  begun,
  done,
  goneOn,
  historyOf,
  rollbackAsked,
  rolledBack,
  started,
  type Word,
} from '@/lib/engine/histories'
import { blankLedger } from '@/lib/view/timeline/blank-ledger'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { speaksOf } from './run-values'

const graph = {
  ...graphOf({ write: {}, test: {} }, [], { order: 'stepwise', format: 'promptpack' }),
  edges: [{ from: 'write', to: 'test', extra: {} }],
}
const wrote =
  (value: string): Word =>
  (run) => ({
    type: 'artifact_set',
    node: 'write',
    visit: run.visits.get('write')?.visit ?? 1,
    artifact: 'report',
    value: hashJson(value),
    mediaType: 'text/plain',
    mode: 'replace',
    by: 'engine',
  })

/** A run as the installation has it: folded, and its ledger page by page. */
function holding(words: Word[]) {
  const { run, facts } = historyOf(graph, words)
  const entries = blankLedger(facts)
  let pages = 0
  const house = {
    book: { read: async (_id: unknown, reader: (folded: typeof run) => unknown) => reader(run) },
    store: {
      ledger: {
        rows: async (_id: unknown, after: number, limit: number) => {
          pages += 1
          return entries.slice(after, after + limit)
        },
      },
    },
  } as unknown as Parameters<typeof speaksOf>[0]
  const id = runIdOf('00000000-0000-4000-8000-00000000beef')
  return { speaks: (hash: string) => speaksOf(house, id, hash), pages: () => pages }
}

const once = [begun(), started('write'), wrote('first'), done('write')]

describe('a run', () => {
  it('speaks of its artifacts, outputs and input, and of no other value', async () => {
    const { speaks, pages } = holding(once)
    for (const value of ['first', { output: 'write' }, {}]) expect(await speaks(hashJson(value))).toBe(true)
    expect(await speaks(hashJson('another run wrote this'))).toBe(false)
    expect(pages()).toBe(0)
  })
  it('still speaks of what a rollback left behind: the trace shows those rows', async () => {
    const { speaks } = holding([
      ...once,
      started('test'),
      rollbackAsked('write'),
      rolledBack('write'),
      goneOn('write'),
      started('write'),
      wrote('second'),
    ])
    expect(await speaks(hashJson('first'))).toBe(true)
    expect(await speaks(hashJson({ output: 'write' }))).toBe(true)
    expect(await speaks(hashJson('second'))).toBe(true)
    expect(await speaks(hashJson('third'))).toBe(false)
  })
})
