/*
 * The console on runs that are large or odd (large-runs.ts), in Chromium: what a reviewer does with them, and how long
 * the longest task was that kept the page from answering meanwhile.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { BrowserContext, Page } from '@playwright/test'
import type { RunId } from '@/lib/base/ids'
import { busyWhile } from './busy-page'
import { atMost, type Benchmark, type Figure, shown } from './figures'
import { openBenchHouse } from './house'
import { type WrittenRun, writeOdd, writeWalk } from './large-runs'
import { becomeAdministrator, inChromium, startServer } from './served'

const longestTaskMs = 200
const waitsAtMostMs = 120_000

export interface LargeRuns {
  long: WrittenRun
  /** As long, and another. */
  other: WrittenRun
  wide: WrittenRun
  odd: WrittenRun
}

export const large: Benchmark = {
  group: 'large',
  async measure(say, quick) {
    const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'holdpoint-large-'))
    try {
      const runs = await writeRuns(dataDir, quick, say)
      say('starting the console')
      const server = await startServer(dataDir)
      try {
        return await inChromium(async (context) => {
          await becomeAdministrator(context, server)
          return measureIn(context, server.origin, runs, say)
        })
      } finally {
        await server.stop()
      }
    } finally {
      fs.rmSync(dataDir, { recursive: true, force: true })
    }
  },
}

async function writeRuns(dataDir: string, quick: boolean, say: (line: string) => void): Promise<LargeRuns> {
  const house = await openBenchHouse({ dataDir })
  const transitions = quick ? 5_000 : 50_000
  try {
    const { installation } = house
    const written = async (what: string, make: Promise<WrittenRun>) => {
      const made = await make
      say(`${what}: ${made.tokens.toLocaleString('en')} tokens`)
      return made
    }
    return {
      long: await written('a long run', writeWalk(installation, { transitions, states: 50 })),
      other: await written('another', writeWalk(installation, { transitions, states: 50, seed: 2 })),
      wide: await written('a wide run', writeWalk(installation, { transitions: 3_000, states: 2_000 })),
      odd: await written('an odd run', writeOdd(installation, quick ? 2_000_000 : 20_000_000)),
    }
  } finally {
    await house.close()
  }
}

type Act = [what: string, act: (page: Page) => Promise<unknown>]

/** Does all of it, each run in a page of its own. */
export async function measureIn(
  context: BrowserContext,
  origin: string,
  { long, other, wide, odd }: LargeRuns,
  say: (line: string) => void,
  only = '',
): Promise<Figure[]> {
  const pages: [name: string, acts: Act[]][] = [
    ['long', [...runActs(origin, long), ...traceActs(origin, long.run, 20, 40_000)]],
    ['wide', [...runActs(origin, wide), ...graphActs()]],
    ['odd', [...runActs(origin, odd), ...valueActs(origin, odd.run)]],
    [
      'two long',
      [['compare them', (page) => compare(page, `${origin}/runs/${long.run}/compare/${other.run}`)]],
    ],
  ]
  const figures: Figure[] = []
  for (const [name, acts] of pages) {
    const page = await context.newPage()
    page.setDefaultTimeout(waitsAtMostMs)
    for (const [what, act] of acts) {
      if (only !== '' && !`${name}: ${what}`.includes(only)) continue
      const busy = await busyWhile(page, () => act(page))
      say(
        `${name}: ${what}: longest ${Math.round(busy.longestMs)} ms, ${busy.over200} over ${longestTaskMs} ms, ` +
          `${Math.round(busy.allMs)} ms in all, took ${Math.round(busy.tookMs)} ms`,
      )
      figures.push(
        atMost(longestTaskMs, `large: ${name}: ${what}: longest task`, busy.longestMs, 'ms'),
        shown(`large: ${name}: ${what}: all tasks`, busy.allMs, 'ms'),
      )
    }
    await page.close()
  }
  return figures
}

const head = (page: Page) => page.getByRole('slider', { name: 'Moment of the run' })

/** Until the graph is drawn and the film has come to its last token. */
async function openRun(page: Page, url: string, tokens: number): Promise<void> {
  await page.goto(url, { waitUntil: 'commit' })
  await page.locator('[data-laid-out=true] .react-flow__node').first().waitFor()
  await page.locator(`[role=slider][aria-label="Moment of the run"][aria-valuemax="${tokens}"]`).waitFor()
}

/** What is done with the film and the ledger of any run. */
function runActs(origin: string, { run, tokens }: WrittenRun): Act[] {
  const url = `${origin}/runs/${run}`
  return [
    ['open', (page) => openRun(page, url, tokens)],
    ['to the first token', (page) => pressed(page, 'Home', 1)],
    ['20 tokens on', (page) => pressed(page, 'ArrowRight', 20)],
    ['5 jumps on', (page) => pressed(page, 'Shift+ArrowRight', 5)],
    ['10 transitions on', (page) => pressed(page, ']', 10)],
    ['drag the playhead', drag],
    ['play at 64×', play],
    ['look closer, four times', closer],
    ['back to now', (page) => pressed(page, 'End', 1)],
    ['show the ledger', (page) => show(page, 'Ledger', 'Ledger')],
    ['scroll the ledger', (page) => scrollTable(page, 'Ledger')],
    ['scrub beside the ledger', drag],
    ['show the artifacts', (page) => show(page, 'Artifacts', 'Artifacts at each transition')],
    ['scroll the artifacts', (page) => scrollTable(page, 'Artifacts at each transition')],
    ['scrub beside the artifacts', drag],
    ['show the graph again', (page) => page.getByRole('link', { name: /^Graph/ }).click()],
  ]
}

function traceActs(origin: string, run: RunId, a: number, b: number): Act[] {
  return [
    [
      'compare positions far apart',
      async (page) => {
        await page.goto(`${origin}/runs/${run}?show=artifacts&a=${a}&b=${b}&artifact=log`)
        await page.getByRole('region', { name: 'Changes of log' }).waitFor()
      },
    ],
    ['open a row', (page) => openRow(page)],
    ['verify all of it', verify],
  ]
}

function graphActs(): Act[] {
  return [
    ['fit the whole graph', (page) => page.getByRole('button', { name: 'Fit the whole graph' }).click()],
    ['drag the playhead over all of it', drag],
    ['choose a step', (page) => page.locator('.rg-node').first().click()],
  ]
}

function valueActs(origin: string, run: RunId): Act[] {
  const compared =
    (name: string, layout = '') =>
    async (page: Page) => {
      await page.goto(`${origin}/runs/${run}?show=artifacts&a=3&b=5&artifact=${name}${layout}`)
      await page.getByRole('region', { name: `Changes of ${name}` }).waitFor()
    }
  return [
    ...['long_text', 'long_json', 'one_line', 'deep', 'page'].map(
      (name): Act => [`compare ${name}`, compared(name)],
    ),
    ['compare long_text side by side', compared('long_text', '&diff=sides')],
    ['open a row', (page) => openRow(page)],
    [
      'more of a large value',
      async (page) => {
        const text = page.getByRole('region', { name: 'long_text', exact: true })
        await text.getByRole('button', { name: /^Show more of/ }).click()
        await text.getByText(/^1,000 of/).waitFor()
      },
    ],
  ]
}

async function openRow(page: Page): Promise<void> {
  await page.getByRole('table', { name: 'Artifacts at each transition' }).getByRole('row').last().click()
  await page.keyboard.press('Enter')
  const values = page.getByRole('complementary', { name: /^Values at row/ })
  await values.waitFor()
  // Large values are read last; until then a line tells that they are under way.
  await values
    .getByRole('region', { name: /^Value of/ })
    .first()
    .waitFor()
  await page.waitForFunction(() => document.querySelectorAll('aside [aria-busy=true]').length === 0)
}

async function pressed(page: Page, key: string, times: number): Promise<void> {
  for (let at = 0; at < times; at++) await page.keyboard.press(key)
}

/** Along the whole film and back, in 40 moves. */
async function drag(page: Page): Promise<void> {
  const box = await page.locator('[data-tokens]').boundingBox()
  if (!box) throw new Error('There is no film to drag on')
  const y = box.y + box.height / 2
  await page.mouse.move(box.x + box.width - 4, y)
  await page.mouse.down()
  for (let step = 0; step <= 40; step++) {
    const part = Math.abs(20 - step) / 20
    await page.mouse.move(box.x + 4 + part * (box.width - 8), y)
  }
  await page.mouse.up()
}

async function play(page: Page): Promise<void> {
  const film = page.getByRole('region', { name: 'Timeline' })
  await film.getByRole('button', { name: /^Speed/ }).click()
  await page.getByRole('menuitemradio', { name: '64×' }).click()
  await pressed(page, 'Home', 1)
  await film.getByRole('button', { name: 'Play', exact: true }).click()
  await page.waitForTimeout(3_000)
  const stop = film.getByRole('button', { name: 'Stop playing' })
  if (await stop.isVisible()) await stop.click()
}

async function closer(page: Page): Promise<void> {
  for (let at = 0; at < 4; at++) await page.getByRole('button', { name: 'Look closer at the film' }).click()
  await head(page).waitFor()
}

async function show(page: Page, tab: string, table: string): Promise<void> {
  await page
    .getByRole('navigation', { name: 'Views of the run' })
    .getByRole('link', { name: new RegExp(`^${tab}`) })
    .click()
  await page.getByRole('table', { name: table }).waitFor()
}

async function scrollTable(page: Page, name: string): Promise<void> {
  const table = page.getByRole('table', { name })
  for (const part of [0.1, 0.11, 0.5, 0.9, 1, 0]) {
    await table.evaluate((element, to) => {
      const scroller = element.parentElement
      if (scroller) scroller.scrollTop = scroller.scrollHeight * to
      return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    }, part)
  }
}

async function verify(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Verify [\d,]+ tokens/ }).click()
  const dialog = page.getByRole('dialog', { name: 'Verification of the ledger' })
  await dialog.getByRole('button', { name: /^Verify/ }).click()
  await dialog.getByText('Signatures').waitFor()
}

async function compare(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await page.getByRole('table', { name: 'Visits of both runs' }).waitFor()
}
