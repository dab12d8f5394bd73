/* The console as it is served, for benchmarks that look at it: a real server on a data folder, and Chromium. */
import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { type BrowserContext, chromium } from '@playwright/test'

/** From the bundle, dist/bench. */
const root = path.resolve(import.meta.dirname, '../..')
/** Building the console is part of the first start. */
const startsWithinMs = 300_000

/** A browser with one window of a usual size, while the work lasts. */
export async function inChromium<T>(work: (context: BrowserContext) => Promise<T>): Promise<T> {
  const executablePath =
    process.env.HOLDPOINT_CHROMIUM ??
    ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((file) => fs.existsSync(file))
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run']
  const browser = await chromium.launch({ ...(executablePath ? { executablePath } : {}), args })
  try {
    return await work(await browser.newContext({ viewport: { width: 1440, height: 900 } }))
  } finally {
    await browser.close()
  }
}

/** Through the one-time link; there is nobody yet. */
export async function becomeAdministrator(context: BrowserContext, server: Server): Promise<void> {
  const page = await context.newPage()
  await page.goto(server.firstLink)
  await page.getByLabel('Name').fill('ada')
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery staple')
  await page.getByRole('button', { name: 'Become administrator' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.close()
}

export interface Server {
  origin: string
  /** The one-time link of the first sign-in. */
  firstLink: string
  stop(): Promise<void>
}

/** `npm start` on a free port, without the lab; builds the console when its sources changed. */
export async function startServer(dataDir: string): Promise<Server> {
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
