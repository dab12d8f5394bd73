/*
 * The console at size: a real server on a data folder with a run of a thousand steps that waits for a person in its
 * middle, and Chromium. How long until the run's graph is there, and how many frames a second it is panned at.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { BrowserContext, Page } from '@playwright/test'
import type { RunId } from '@/lib/base/ids'
import type { JsonObject } from '@/lib/base/json'
import { startWorker } from '@/lib/worker/worker'
import { atLeast, atMost, type Benchmark, median, shown, took } from './figures'
import { openBenchHouse } from './house'
import { becomeAdministrator, inChromium, type Server, startServer } from './served'

const layers = 40
const width = 25
const panMs = 3_000

export const consoleAtSize: Benchmark = {
  group: 'console',
  async measure(say, quick) {
    const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'holdpoint-console-'))
    try {
      say(`running ${layers * width} steps`)
      const runId = await runInto(dataDir)
      say('starting the console')
      const server = await startServer(dataDir)
      try {
        return await inChromium((context) => inBrowser(context, server, runId, quick ? 3 : 7, say))
      } finally {
        await server.stop()
      }
    } finally {
      fs.rmSync(dataDir, { recursive: true, force: true })
    }
  },
}

async function inBrowser(
  context: BrowserContext,
  server: Server,
  runId: RunId,
  rounds: number,
  say: (line: string) => void,
) {
  await becomeAdministrator(context, server)
  const opened: number[] = []
  const frames: number[] = []
  // The first opening compiles the page on the server and fills the browser's cache, and is not counted.
  for (let round = 0; round <= rounds; round++) {
    const page = await context.newPage()
    const { ms } = await took(() => openRun(page, `${server.origin}/runs/${runId}`))
    const perSecond = await framesPerSecondWhilePanned(page)
    say(`opened in ${Math.round(ms)} ms, panned at ${perSecond.toFixed(1)} frames a second`)
    if (round > 0) {
      opened.push(ms)
      frames.push(perSecond)
    }
    await page.close()
  }
  return [
    atMost(2_000, `console: a run of ${layers * width} steps opens`, median(opened), 'ms'),
    atLeast(50, 'console: its graph is panned at', median(frames), 'frames/s'),
    shown('console: slowest pan', Math.min(...frames), 'frames/s'),
  ]
}

/** Until the graph is laid out and its first steps can be seen. */
async function openRun(page: Page, url: string): Promise<void> {
  await page.goto(url, { waitUntil: 'commit' })
  await page.locator('[data-laid-out=true] .react-flow__node').first().waitFor()
}

/** Drags the canvas to and fro, a move for each frame the page draws. */
async function framesPerSecondWhilePanned(page: Page): Promise<number> {
  const start = await page.evaluate(() => {
    const pane = document.querySelector('.react-flow__pane')
    for (let y = innerHeight / 2; y < innerHeight; y += 7) {
      for (let x = innerWidth / 4; x < innerWidth; x += 7) {
        if (document.elementFromPoint(x, y) === pane) return { x, y }
      }
    }
    return undefined
  })
  if (!start) throw new Error('The canvas has no free place to drag it by')
  await page.evaluate(() => {
    const times: number[] = []
    const note = (now: number) => {
      times.push(now)
      requestAnimationFrame(note)
    }
    requestAnimationFrame(note)
    Object.assign(window, { frameTimes: times })
  })
  await page.mouse.move(start.x, start.y)
  await page.mouse.down()
  const until = performance.now() + panMs
  for (let step = 0; performance.now() < until; step++) {
    const swing = Math.sin(step / 25)
    await page.mouse.move(start.x + 400 * swing, start.y + 150 * swing)
  }
  const times = await page.evaluate(() => (window as unknown as { frameTimes: number[] }).frameTimes.slice())
  await page.mouse.up()
  const [first, last] = [times.at(0), times.at(-1)]
  if (first === undefined || last === undefined || last <= first) throw new Error('No frame was drawn')
  return ((times.length - 1) / (last - first)) * 1000
}

/** A run whose first half is done and whose middle waits for a person. */
async function runInto(dataDir: string): Promise<RunId> {
  const house = await openBenchHouse({ dataDir })
  const version = await house.version(layered())
  const worker = startWorker(house.ports, 'bench')
  const { store } = house.installation
  const runId = await house.start(version, 'hostname edge-router-07\n')
  const isWaiting = async () => (await store.runs.get(runId))?.status === 'waiting'
  await new Promise<void>((resolve) => {
    const off = store.onAppend(async () => {
      if (!(await isWaiting())) return
      off()
      resolve()
    })
  })
  await worker.stop()
  await house.close()
  return runId
}

function layered(): JsonObject {
  const id = (layer: number, at: number) => `step-${layer}-${at % width}`
  const places = Array.from({ length: layers * width }, (_, n) => [Math.floor(n / width), n % width] as const)
  return {
    wf_id: 'bench-console',
    description: `${layers} layers of ${width} steps`,
    nodes: places.map(([layer, at]) => ({
      id: id(layer, at),
      label: `Step ${at + 1} of layer ${layer + 1}`,
      reversible: true,
      hitl_required: layer === layers / 2,
      resource_hints: { priority: 'normal', timeout_s: 3600 },
      action: { type: 'template_render', template: 'Hello {{content}}', input_from: 'trigger' },
    })),
    edges: places
      .filter(([layer]) => layer > 0)
      .flatMap(([layer, at]) =>
        [at, at + 1].map((from) => ({ from: id(layer - 1, from), to: id(layer, at) })),
      ),
  }
}
