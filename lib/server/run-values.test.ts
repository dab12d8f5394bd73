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

/** A run as the installation has it: its ledger, page by page. */
function holding(words: Word[]) {
  const { facts } = historyOf(graph, words)
  // In the middle of it something that a later version wrote.
  const entries = blankLedger([...facts.slice(0, 2), 'hp:from_the_future', ...facts.slice(2)])
  const id = runIdOf('00000000-0000-4000-8000-00000000beef')
  let shown = entries.length
  let pages = 0
  const rows = async (_: string, after: number, limit: number) => {
    pages += 1
    return entries
      .slice(after, Math.min(shown, after + limit))
      .map((entry) => ({ ...entry, runId: id, jti: '' }))
  }
  const house = { store: { ledger: { rows } } }
  return {
    speaks: (hash: string) => speaksOf(house, id, hash),
    pages: () => pages,
    /** So many of its tokens are there yet. */
    show: (count = entries.length) => {
      shown = count
    },
  }
}

const once = [begun(), started('write'), wrote('first'), done('write')]

describe('a run', () => {
  it('speaks of its artifacts, outputs and input, and of no other value', async () => {
    const { speaks, pages } = holding(once)
    for (const value of ['first', { output: 'write' }, {}]) expect(await speaks(hashJson(value))).toBe(true)
    expect(pages()).toBe(1)
    expect(await speaks(hashJson('another run wrote this'))).toBe(false)
  })
  it('speaks of a value from the token on that names it', async () => {
    const { speaks, show } = holding(once)
    show(2)
    expect(await speaks(hashJson('first'))).toBe(false)
    show()
    // Two at once: one of them waits for what the other reads.
    expect(await Promise.all([speaks(hashJson('first')), speaks(hashJson('none'))])).toEqual([true, false])
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
