'use client'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { slotWindow } from '@/lib/view/slot-diff'
import { ApiProblem } from './api'
import { keys } from './keys'
import type { StoredRef, ValueAnswer, ValueQuestion } from './value-terms'

let worker: Worker | undefined
let asked = 0
const waiting = new Map<number, { give: (answer: ValueAnswer) => void; fail: (reason: Error) => void }>()

/** The worker is started with the first question and kept, with what it has read. */
function theWorker(): Worker {
  if (worker) return worker
  worker = new Worker(new URL('./value-worker.ts', import.meta.url), { type: 'module' })
  worker.onmessage = ({ data }: MessageEvent<{ id: number; answer: ValueAnswer }>) => {
    waiting.get(data.id)?.give(data.answer)
    waiting.delete(data.id)
  }
  worker.onerror = () => {
    worker = undefined
    for (const { fail } of waiting.values()) {
      fail(new ApiProblem('internal', 'This browser could not read the value: its worker broke.', 0))
    }
    waiting.clear()
  }
  return worker
}

async function ask(question: ValueQuestion): Promise<Exclude<ValueAnswer, { kind: 'failed' }>> {
  const id = ++asked
  const answer = await new Promise<ValueAnswer>((give, fail) => {
    waiting.set(id, { give, fail })
    theWorker().postMessage({ id, question })
  })
  if (answer.kind === 'failed') throw new ApiProblem(answer.code, answer.sentence, answer.status)
  return answer
}

/** What differs between a slot at two moments: its entries there, none where it is missing. */
export function useComparison(
  mode: 'replace' | 'append',
  before: StoredRef[] | undefined,
  after: StoredRef[] | undefined,
) {
  const window = useMemo(() => slotWindow(before ?? [], after ?? []), [before, after])
  const of = (side: StoredRef[] | undefined, there: StoredRef[]) =>
    side && there.map((ref) => ref.hash).join()
  const query = useQuery({
    // Values never change: each pair is compared once.
    queryKey: keys.comparison(mode, of(before, window.before) ?? '-', of(after, window.after) ?? '-'),
    queryFn: async () => {
      const answer = await ask({
        ask: 'compare',
        mode,
        ...(before && { before: window.before }),
        ...(after && { after: window.after }),
      })
      if (answer.kind !== 'compared') throw new TypeError('The worker answered another question')
      return answer.comparison
    },
  })
  return { ...query, sameBefore: window.sameBefore, leftOut: window.leftOut }
}

/** A large value, page by page. */
export function useValueLines(ref: StoredRef, enabled: boolean) {
  return useInfiniteQuery({
    queryKey: keys.valueLines(ref.hash),
    queryFn: async ({ pageParam }) => {
      const answer = await ask({ ask: 'page', ref, from: pageParam })
      if (answer.kind !== 'page') throw new TypeError('The worker answered another question')
      return answer.page
    },
    initialPageParam: 0,
    getNextPageParam: (last, all) => {
      const shown = all.reduce((sum, page) => sum + page.lines.length, 0)
      return shown < last.total ? shown : undefined
    },
    enabled,
  })
}
