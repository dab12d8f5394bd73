/*
 * The console at size: a real server on a data folder with a run of a thousand steps that waits for a person in its
 * middle, and Chromium. How long until the run's graph is there, and how many frames a second it is panned at.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import { createServer } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { type BrowserContext, chromium, type Page } from '@playwright/test'
import type { RunId } from '@/lib/base/ids'
import type { JsonObject } from '@/lib/base/json'
import { startWorker } from '@/lib/worker/worker'
import { atLeast, atMost, type Benchmark, median, shown, took } from './figures'
import { openBenchHouse } from './house'

const layers = 40
const width = 25
/** From the bundle, dist/bench. */
const root = path.resolve(import.meta.dirname, '../..')
/** Building the console is part of the first start. */
const startsWithinMs = 300_000
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
        return await inBrowser(server, runId, quick ? 3 : 7, say)
      } finally {
        await server.stop()
      }
    } finally {
      fs.rmSync(dataDir, { recursive: true, force: true })
    }
  },
}

async function inBrowser(server: Server, runId: RunId, rounds: number, say: (line: string) => void) {
  const executablePath =
    process.env.HOLDPOINT_CHROMIUM ??
    ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((file) => fs.existsSync(file))
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run']
  const browser = await chromium.launch({ ...(executablePath ? { executablePath } : {}), args })
  try {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
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
  } finally {
    await browser.close()
  }
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

async function becomeAdministrator(context: BrowserContext, server: Server): Promise<void> {
  const page = await context.newPage()
  await page.goto(server.firstLink)
  await page.getByLabel('Name').fill('ada')
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery staple')
  await page.getByRole('button', { name: 'Become administrator' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.close()
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

interface Server {
  origin: string
  /** The one-time link of the first sign-in. */
  firstLink: string
  stop(): Promise<void>
}

/** `npm start` on a free port, without the lab; builds the console when its sources changed. */
async function startServer(dataDir: string): Promise<Server> {
  const port = await freePort()
  const args = ['lib/cli/start.mjs', '--port', String(port), '--data', dataDir, '--no-lab']
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const said = await untilSaid(child, 'Stop with Ctrl-C')
  const origin = `http://localhost:${port}`
  const firstLink = new RegExp(`${origin}/first-run/\\S+`).exec(said)?.[0]
  if (firstLink === undefined) throw new Error(`The console printed no one-time link. It said:\n${said}`)
  return {
    origin,
    firstLink,
    stop: () =>
      new Promise((resolve) => {
        if (child.exitCode !== null) return resolve()
        child.once('exit', () => resolve())
        child.kill('SIGINT')
      }),
  }
}

function untilSaid(child: ChildProcess, words: string): Promise<string> {
  let said = ''
  return new Promise((resolve, reject) => {
    const fail = (what: string) => reject(new Error(`The console ${what}. It said:\n${said}`))
    const timer = setTimeout(() => {
      child.kill('SIGINT')
      fail('did not start in time')
    }, startsWithinMs)
    const hear = (chunk: Buffer) => {
      said += chunk.toString()
      if (!said.includes(words)) return
      clearTimeout(timer)
      resolve(said)
    }
    child.stdout?.on('data', hear)
    child.stderr?.on('data', hear)
    child.once('exit', (code) => {
      clearTimeout(timer)
      fail(`ended with exit code ${code}`)
    })
  })
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
