/*
 * How long a page keeps its reader waiting: the longest single task of its main thread while something is done to it.
 * It is processor time, taken from the browser's own trace: what else the machine does meanwhile is not in it.
 */
import type { Page } from '@playwright/test'
import { z } from 'zod'

const traced = z.object({
  traceEvents: z.array(
    z.looseObject({ name: z.string(), pid: z.number(), tid: z.number(), tdur: z.number().optional() }),
  ),
})

const named = z.object({ args: z.object({ name: z.string() }) })

export interface Busy {
  /** Ms of the longest task, and how many were longer than 200 ms. */
  longestMs: number
  over200: number
  /** Ms of all tasks together. */
  allMs: number
  /** Ms until it was done, as a clock on the wall has it. */
  tookMs: number
}

/** What the page's main thread does until `act` is over and the page has drawn what came of it. */
export async function busyWhile(page: Page, act: () => Promise<unknown>): Promise<Busy> {
  const browser = page.context().browser()
  if (!browser) throw new Error('The page belongs to no browser')
  await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline'] })
  const begun = performance.now()
  let trace: Buffer
  try {
    await act()
    await page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    )
  } finally {
    trace = await browser.stopTracing()
  }
  const tookMs = performance.now() - begun
  const { traceEvents } = traced.parse(JSON.parse(trace.toString('utf8')))
  const pages = new Set(
    traceEvents.flatMap((event) => {
      const isPage =
        event.name === 'thread_name' && named.safeParse(event).data?.args.name === 'CrRendererMain'
      return isPage ? [`${event.pid} ${event.tid}`] : []
    }),
  )
  const tasks = traceEvents
    .filter(({ name, pid, tid }) => name === 'RunTask' && pages.has(`${pid} ${tid}`))
    .map(({ tdur = 0 }) => tdur / 1_000)
  return {
    longestMs: tasks.reduce((most, ms) => Math.max(most, ms), 0),
    over200: tasks.filter((ms) => ms > 200).length,
    allMs: tasks.reduce((sum, ms) => sum + ms, 0),
    tookMs,
  }
}
