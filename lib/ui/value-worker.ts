/* Runs in a worker: values are fetched, hashed, parsed and compared there, so that a large one never holds the page up. */
import { slotDiff } from '@/lib/view/slot-diff'
import { isHashOf } from '@/lib/view/value-hash'
import { pageFrom, valueLines } from '@/lib/view/value-pages'
import { ApiProblem } from './api'
import { bytesOf } from './stored-bytes'
import type { Comparison, StoredRef, ValueAnswer, ValueQuestion } from './value-terms'

const scope = self as unknown as {
  onmessage: (event: MessageEvent<{ id: number; question: ValueQuestion }>) => void
  postMessage: (answer: { id: number; answer: ValueAnswer }) => void
}

scope.onmessage = async ({ data: { id, question } }) => {
  scope.postMessage({ id, answer: await answerTo(question).catch(failure) })
}

async function answerTo(question: ValueQuestion): Promise<ValueAnswer> {
  switch (question.ask) {
    case 'compare':
      return { kind: 'compared', comparison: await compared(question) }
    case 'page':
      return { kind: 'page', page: await page(question) }
    default:
      return question satisfies never
  }
}

async function compared({
  mode,
  before,
  after,
}: Extract<ValueQuestion, { ask: 'compare' }>): Promise<Comparison> {
  const [was, is] = await Promise.all([readAll(before ?? []), readAll(after ?? [])])
  const held = [...was, ...is].map((one) => one.held)
  return {
    diff: slotDiff(mode, before && was, after && is),
    hashes: held.includes(false) ? 'differ' : held.includes(undefined) ? 'unknown' : 'match',
  }
}

async function readAll(refs: readonly StoredRef[]) {
  return Promise.all(
    refs.map(async (ref) => {
      const bytes = await bytesOf(ref)
      return { mediaType: ref.mediaType, bytes, held: await isHashOf(bytes, ref.hash) }
    }),
  )
}

/** What a page draws at once without a halt; long lines take room as well. */
const pageMost = { lines: 500, chars: 50_000 }

/** The lines of the value that was asked for last: the next page is of the same. */
let opened: { hash: string; is: 'json' | 'text' | 'bytes'; lines: string[] } | undefined

async function page({ ref, from }: Extract<ValueQuestion, { ask: 'page' }>) {
  if (opened?.hash !== ref.hash) {
    opened = { hash: ref.hash, ...valueLines(ref.mediaType, await bytesOf(ref)) }
  }
  const { is, lines } = opened
  return { is, lines: pageFrom(lines, from, pageMost), total: lines.length }
}

function failure(error: unknown): ValueAnswer {
  if (error instanceof ApiProblem) {
    return { kind: 'failed', code: error.code, sentence: error.message, status: error.status }
  }
  const sentence = error instanceof Error ? error.message : String(error)
  return { kind: 'failed', code: 'internal', sentence, status: 500 }
}
