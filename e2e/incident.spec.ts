/*
 * What a reviewer does with an incident: sees what goes into its bundle, takes it away, verifies it on their own machine,
 * reads the report, and opens it in a console that shows it and changes nothing.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { holdpoint } from './holdpoint'
import { freePorts, root } from './house'
import { isClean } from './is-clean'
import { expect, status, test } from './test'

/** `holdpoint open`, until it is told to stop. */
class OpenedConsole {
  #said = ''
  #process: ChildProcess | undefined

  /** Starts it; gives the link it prints, or undefined when it refuses. */
  async open(bundle: string, ...more: string[]): Promise<string | undefined> {
    const port = String(await freePorts(1))
    const child = spawn(
      process.execPath,
      ['lib/cli/holdpoint.mjs', 'open', bundle, '--port', port, ...more],
      {
        cwd: root,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    this.#process = child
    return new Promise((resolve) => {
      const hear = (chunk: Buffer) => {
        this.#said += chunk.toString()
        const link = /http:\/\/localhost:\d+\/opened\/\S+/.exec(this.#said)?.[0]
        if (link && this.#said.includes('Stop with Ctrl-C')) resolve(link)
      }
      child.stdout.on('data', hear)
      child.stderr.on('data', hear)
      child.once('exit', () => resolve(undefined))
    })
  }

  get said(): string {
    return this.#said
  }

  async stop(): Promise<number | null> {
    const child = this.#process
    if (!child || child.exitCode !== null) return child?.exitCode ?? null
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
    child.kill('SIGINT')
    return ended
  }
}

test('an incident is exported, verified, read and opened read-only', async ({ page, api, browser }, info) => {
  const bundle = info.outputPath('incident.tar')
  const run = await api.startRun('quick-check')
  await page.goto(`/runs/${run}`)
  await expect(status(page)).toContainText('succeeded')

  await test.step('the dialog says what goes in, and how large it is', async () => {
    await page.getByRole('button', { name: 'More for quick-check' }).click()
    await page.getByRole('menuitem', { name: 'Export incident…' }).click()
    const dialog = page.getByRole('dialog', { name: /^Export the incident quick-check/ })
    await expect(dialog).toContainText(/\d+ tokens, each signed/)
    await expect(dialog).toContainText('One page to read')
    const download = page.waitForEvent('download')
    await dialog.getByRole('link', { name: /^Download the bundle, [\d.]+ k?B$/ }).click()
    await (await download).saveAs(bundle)
    await expect(dialog).toBeHidden()
  })

  await test.step('it verifies offline', async () => {
    const verdict = await holdpoint('verify', bundle)
    expect(verdict.code, verdict.out).toBe(0)
    expect(verdict.out).toContain(`holds: ${run} of "quick-check"`)
  })

  await test.step('its report is read with nothing running and nothing fetched', async () => {
    const tar = readFileSync(bundle)
    const begin = tar.indexOf('<!doctype html>')
    const report = info.outputPath('report.html')
    writeFileSync(report, tar.subarray(begin, tar.indexOf('</html>', begin) + 7))
    const context = await browser.newContext({ javaScriptEnabled: true, storageState: undefined })
    const reader = await context.newPage()
    const asked: string[] = []
    reader.on('request', (request) => asked.push(request.url()))
    await reader.goto(`file://${report}`)
    await expect(reader.getByRole('heading', { level: 1, name: 'quick-check' })).toBeVisible()
    await expect(reader.getByRole('img', { name: 'Graph of quick-check' })).toBeVisible()
    await expect(reader.getByRole('heading', { name: 'Hashes, and how to verify' })).toBeVisible()
    expect(asked).toHaveLength(1)
    await context.close()
  })

  await test.step('a console shows it, and changes nothing', async () => {
    const opened = new OpenedConsole()
    try {
      const link = (await opened.open(bundle)) as string
      expect(link, opened.said).toBeTruthy()
      const context = await browser.newContext({ storageState: undefined })
      const visitor = await context.newPage()
      await visitor.goto(new URL('/', link).href)
      await expect(visitor.getByRole('heading', { name: 'This console shows a bundle' })).toBeVisible()

      await visitor.goto(link)
      await expect(
        visitor.getByText(/^Opened from incident\.tar, read-only, as of [\d-]+ [\d:]+; verified: \d+ tokens/),
      ).toBeVisible()
      await expect(visitor.getByRole('heading', { name: 'quick-check' })).toBeVisible()
      await expect(visitor.getByText('succeeded').first()).toBeVisible()
      for (const place of ['/', '/runs', '/approvals', '/workflows']) {
        await visitor.goto(new URL(place, link).href)
        await expect(visitor.getByText(/^Opened from incident\.tar, read-only/)).toBeVisible()
        await expect(visitor.getByText(/^(Live|Not live|Connecting)/)).toHaveCount(0)
      }
      await visitor.goto(new URL('/', link).href)
      await expect(
        visitor.getByRole('heading', { name: 'Nothing needed a person, 1 run had ended that day.' }),
      ).toBeVisible()
      await visitor.goto(new URL('/approvals', link).href)
      await expect(visitor.getByRole('heading', { name: 'No question was open' })).toBeVisible()
      const words = await visitor.getByRole('navigation', { name: 'Main' }).getByRole('link').allInnerTexts()
      expect(words).toEqual(['Overview', 'Approvals', 'Runs', 'Workflows'])
      await visitor.goto(new URL('/breakers', link).href)
      await expect(visitor.getByRole('heading', { name: 'A bundle holds no breakers' })).toBeVisible()
      await isClean(visitor)
      const origin = new URL(link).origin
      const refused = await context.request.post(`${origin}/api/v1/runs/${run}/cancel`, {
        headers: { origin },
        data: {},
      })
      expect(refused.status()).toBe(403)
      expect((await refused.json()).code).toBe('opened_read_only')
      await context.close()
      expect(await opened.stop()).toBe(0)
      expect(opened.said).toContain('Closed. The bundle is as it was, and nothing else was kept.')
    } finally {
      await opened.stop()
    }
  })

  await test.step('one that was changed is refused, and shown under a red bar to whoever insists', async () => {
    const bytes = readFileSync(bundle)
    const at = bytes.indexOf('<!doctype html>') + 200
    bytes[at] = (bytes[at] as number) ^ 1
    const changed = info.outputPath('changed.tar')
    writeFileSync(changed, bytes)
    const refused = new OpenedConsole()
    expect(await refused.open(changed)).toBeUndefined()
    expect(refused.said).toContain('does not hold, in report.html')
    expect(refused.said).toContain('Not opened: it does not verify; add --anyway to look at it all the same.')

    const opened = new OpenedConsole()
    try {
      const link = (await opened.open(changed, '--anyway')) as string
      expect(link, opened.said).toBeTruthy()
      const context = await browser.newContext({ storageState: undefined })
      const visitor = await context.newPage()
      await visitor.goto(link)
      await expect(visitor.getByRole('alert').filter({ hasText: 'Does not verify.' })).toContainText(
        'report.html',
      )
      await context.close()
    } finally {
      await opened.stop()
    }
    expect(existsSync(changed)).toBe(true)
  })
})
