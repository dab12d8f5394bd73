import { expect, it } from 'vitest'
import { mintUuid, type RunId, runIdOf } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import type { Commit, LedgerStore } from '@/lib/engine/ports'
import { memoryStore } from '@/lib/store/memory'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { indexGraph } from '@/lib/workflow/graph-index'
import { RunBook } from './run-book'
import { signer } from './simulation/paper'
import { jsonValue } from './values'

const graph = indexGraph(graphOf({ a: {}, b: {} }))
const clock = { now: () => 1_700_000_000_000 }
const timer = { ...clock, waitUntil: async () => undefined }

/** Two processes with a book each over one store; `held` stands between the first and the store. */
async function twoBooks() {
  const store = memoryStore(clock)
  const gate: { hold?: Promise<void> } = {}
  const commit = async (one: Commit) => {
    await gate.hold
    return store.ledger.commit(one)
  }
  const bookOver = (ledger: LedgerStore) =>
    new RunBook({ ledger, signer, timer, mint: mintUuid, chance: () => 0, graphOf: async () => graph })
  const slow = bookOver({ ...store.ledger, commit })
  const other = bookOver(store.ledger)
  const wid = mintUuid()
  const runId = runIdOf(wid)
  const version = jsonValue('version').hash
  await slow.execute(
    runId,
    { type: 'start', version, input: jsonValue({}).hash, by: 'person:ada', dryRun: false },
    { create: { runId, wid, version, workflowName: 'two', startedBy: 'person:ada' } },
  )
  return { store, gate, slow, other, runId }
}

const resume = { type: 'resume', by: 'person:ada' } as const
const pause = { type: 'pause', by: 'person:bo', reason: 'Lunch' } as const
const cancel = { type: 'cancel', by: 'person:cy', reason: 'Enough' } as const

it('never grants a wish it has refused, however the wishes decided with it fare', async () => {
  const { store, gate, slow, other, runId } = await twoBooks()
  let open: () => void = () => undefined
  gate.hold = new Promise((resolve) => {
    open = resolve
  })
  // One wish is under way; two wait and are decided together, on a run that is not paused.
  const first = slow.execute(runId, { type: 'comment', approval: 'appr_none', by: 'person:ada', comment: '' })
  const refused = slow.execute(runId, resume)
  const granted = slow.execute(runId, cancel)
  await expect(first).rejects.toThrow('This run has no approval')
  await expect(refused).rejects.toMatchObject({ code: 'run_not_paused' })
  // Another process pauses the run: their commit loses the fence, and on the new ledger both could be granted.
  await other.execute(runId, pause)
  open()
  await granted
  expect(await typesOf(store.ledger, other, runId)).toEqual(['cancelling', 3])
})

it('does not refuse a wish for what another one brought along', async () => {
  const { slow, runId } = await twoBooks()
  await slow.read(runId, () => undefined)
  const tooMuch = {
    hash: jsonValue('big').hash,
    mediaType: 'text/plain',
    bytes: new Uint8Array(65 * 1024 * 1024),
  }
  const answers = await Promise.allSettled([
    slow.read(runId, () => undefined),
    slow.execute(runId, { type: 'comment', approval: 'appr_none', by: 'person:ada', comment: '' }),
    slow.execute(runId, pause, { values: [tooMuch] }),
    slow.execute(runId, cancel),
  ])
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
  expect(answers[2]).toMatchObject({ reason: { code: 'too_large' } })
})

it('commits what goes right behind a wish together with it, or not at all', async () => {
  const { store, slow, runId } = await twoBooks()
  const [, refused, granted] = await slow.executeAll(runId, [pause, pause, resume])
  expect(refused).toMatchObject({ refusal: { code: 'run_paused' } })
  expect(granted).toHaveProperty('decision')
  expect(await typesOf(store.ledger, slow, runId)).toEqual(['running', 3])
  // The first one is refused: nothing goes behind it.
  await expect(slow.executeAll(runId, [resume, cancel])).rejects.toMatchObject({
    code: 'run_not_paused',
    message: 'This run is running, not paused; there is nothing to resume',
  })
  expect(await typesOf(store.ledger, slow, runId)).toEqual(['running', 3])
})

it('judges what goes behind a wish on the ledger as it is', async () => {
  const { store, slow, other, runId } = await twoBooks()
  await slow.read(runId, () => undefined)
  // This book has not heard of it when the second one is decided.
  await other.execute(runId, pause)
  const again = { type: 'pause', by: 'person:cy', reason: 'More' } as const
  const [first, behind] = await slow.executeAll(runId, [resume, again])
  expect(first.decision.facts.map(({ type }) => type)).toEqual(['run_resumed'])
  expect(behind).toHaveProperty('decision')
  expect(await typesOf(store.ledger, slow, runId)).toEqual(['paused', 4])
})

it('tells a person at once that the store is busy, and tries again for a worker only', async () => {
  const { store, slow, runId } = await twoBooks()
  let refusals = 0
  const { commit } = store.ledger
  const busy = Object.assign(store.ledger, {
    commit: async (one: Commit) => {
      if (refusals === 3) return commit(one)
      refusals += 1
      throw new Problem('store_busy', 'Another process holds the file')
    },
  })
  await expect(slow.execute(runId, pause)).rejects.toMatchObject({
    code: 'store_busy',
    message: 'Another process holds the file',
  })
  expect(refusals).toBe(1)
  const lost = new AbortController()
  await slow.execute(runId, pause, { lost: lost.signal })
  expect(refusals).toBe(3)
  expect(await typesOf(busy, slow, runId)).toEqual(['paused', 2])
  refusals = 0
  lost.abort()
  await expect(slow.execute(runId, resume, { lost: lost.signal })).rejects.toMatchObject({
    code: 'store_busy',
  })
  expect(refusals).toBe(1)
})

it('keeps nothing of runs it was asked about that there are not', async () => {
  const { slow } = await twoBooks()
  for (let asked = 0; asked < 600; asked++) {
    await expect(slow.read(runIdOf(mintUuid()), () => undefined)).rejects.toMatchObject({ code: 'not_found' })
  }
  const { pages } = slow as unknown as { pages: Map<RunId, unknown> }
  expect(pages.size).toBeLessThanOrEqual(257)
})

async function typesOf(ledger: LedgerStore, book: RunBook, runId: RunId) {
  const rows = await ledger.rows(runId, 0, 100)
  return book.read(runId, (run) => [run.state.status, rows.length])
}
