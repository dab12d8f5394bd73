/*
 * An administrator takes an agent from outside on: asks it for its keys, sees what it reports, fetches its new key, revokes
 * that, and sends it away. The agent is a process of its own, on the kit.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import type { Page } from '@playwright/test'
import { freePorts, type House, root } from './house'
import { isClean } from './is-clean'
import { expect, hold, test } from './test'

const name = 'night-porter'
const id = `spiffe://elsewhere.example/agent/${name}`

class Porter {
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'night-porter-'))
  #port = 0
  #process: ChildProcessWithoutNullStreams | undefined
  #lines: AsyncIterator<string> | undefined

  constructor(readonly house: House) {}

  get baseUrl(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  async start(): Promise<void> {
    this.#port ||= await freePorts(1)
    const args = ['--import', 'tsx', 'e2e/kit-agent.ts', this.house.origin, String(this.#port), this.#folder]
    this.#process = spawn(process.execPath, args, { cwd: root })
    const lines: Interface = createInterface({ input: this.#process.stdout })
    this.#lines = lines[Symbol.asyncIterator]()
    expect(await this.#said()).toBe('listens')
  }

  /** Reports a run of its own; gives what the console answered. */
  async report(run: string): Promise<unknown> {
    this.#process?.stdin.write(`${run}\n`)
    return JSON.parse(await this.#said())
  }

  async stop(): Promise<void> {
    const child = this.#process
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }

  /** Starts again without its key, and so makes another. */
  async startWithNewKey(): Promise<void> {
    await this.stop()
    rmSync(path.join(this.#folder, 'keys'), { recursive: true })
    await this.start()
  }

  async remove(): Promise<void> {
    await this.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #said(): Promise<string> {
    const { value, done } = (await this.#lines?.next()) ?? { done: true }
    if (done) throw new Error('The agent ended before it said anything.')
    return value
  }
}

const panel = (page: Page) => page.getByRole('region', { name, exact: true })
const part = (page: Page, title: string) => panel(page).getByRole('region', { name: title })
/** The rows of its keys: those that may be revoked are in use. */
const keysInUse = (page: Page) => part(page, 'Keys').getByRole('button', { name: 'Revoke…' })

test('an agent from outside is taken on, heard, given new keys, and not believed once its key is revoked', async ({
  page,
  house,
}) => {
  const porter = new Porter(house)
  await porter.start()
  try {
    await test.step('it is registered with the keys that it publishes', async () => {
      await page.goto('/agents')
      await page.getByRole('button', { name: 'Add an agent' }).click()
      const dialog = page.getByRole('dialog', { name: 'Add an agent' })
      await dialog.getByLabel('Name', { exact: true }).fill(name)
      await dialog.getByLabel('SPIFFE id').fill(id)
      await dialog.getByLabel('Address', { exact: true }).fill(porter.baseUrl)
      await dialog.getByRole('button', { name: 'Ask the agent for its keys' }).click()
      await expect(dialog).toContainText('Compare the thumbprint with the agent’s owner')
      await dialog.getByLabel(/^Address of its keys/).fill(`${porter.baseUrl}/.well-known/jwks.json`)
      await isClean(page)
      await dialog.getByRole('button', { name: `Add ${name}` }).click()
      await expect(page.getByText(`${name} is registered`).first()).toBeVisible()
      await page.getByRole('button', { name: new RegExp(`^${name}`) }).click()
      await expect(panel(page)).toContainText('never: no token or answer of it has verified yet')
      await expect(keysInUse(page)).toHaveCount(1)
    })

    await test.step('an address that names another is told so, in one quiet line', async () => {
      await page.goto('/agents?agent=nope')
      await expect(page.getByText(/^There is no agent “nope” here; .+ is shown\.$/)).toBeVisible()
      await page.getByRole('button', { name: new RegExp(`^${name}`) }).click()
      await expect(page.getByText(/^There is no agent/)).toBeHidden()
    })

    await test.step('what it reports is seen there', async () => {
      expect(await porter.report('first round')).toMatchObject({ items: [{ status: 'accepted' }] })
      const run = part(page, 'Last runs').getByRole('link', { name: /^first round/ })
      await expect(run).toContainText('began it')
      await expect(panel(page)).not.toContainText('never: no token')
      await isClean(page)
    })

    await test.step('its new key counts once it is fetched, and the old one ends', async () => {
      await porter.startWithNewKey()
      await panel(page)
        .getByRole('button', { name: `More for ${name}` })
        .click()
      await page.getByRole('menuitem', { name: 'Fetch its keys again…' }).click()
      await page
        .getByRole('dialog')
        .getByRole('button', { name: `Fetch the keys of ${name}` })
        .click()
      await expect(page.getByText(`${name} signs with 1 key`).first()).toBeVisible()
      await expect(part(page, 'Keys')).toContainText('published no more')
      await expect(keysInUse(page)).toHaveCount(1)
      expect(await porter.report('second round')).toMatchObject({ items: [{ status: 'accepted' }] })
    })

    await test.step('a key that is revoked signs nothing more', async () => {
      await keysInUse(page).click()
      await expect(page.getByRole('dialog')).toContainText(`It is the only key of ${name}`)
      await hold(page, /Revoke this key/)
      await expect(page.getByText(new RegExp(`of ${name} is revoked`)).first()).toBeVisible()
      await expect(part(page, 'Keys')).toContainText(/revoked .* by/)
      await expect(keysInUse(page)).toHaveCount(0)
      expect(await porter.report('third round')).toMatchObject({
        items: [{ status: 'refused', code: 'ect_key_revoked', detail: expect.stringContaining('revoked') }],
      })
      await page.reload()
      await expect(part(page, 'Last runs')).toContainText('second round')
      await expect(part(page, 'Last runs')).not.toContainText('third round')
    })

    await test.step('and it is sent away', async () => {
      await panel(page)
        .getByRole('button', { name: `More for ${name}` })
        .click()
      await page.getByRole('menuitem', { name: `Remove ${name}…` }).click()
      await page
        .getByRole('dialog')
        .getByRole('button', { name: `Remove ${name}` })
        .click()
      await expect(page.getByText(`${name} is removed`).first()).toBeVisible()
      await expect(page.getByRole('button', { name: new RegExp(`^${name}`) })).toHaveCount(0)
    })
  } finally {
    await porter.remove()
  }
})

test('an agent of the lab that was made to fail says so in the list, and is set right there', async ({
  page,
  house,
}) => {
  const make = async (kind: string) => {
    const data = kind === 'slow' ? { kind, ms: 1 } : { kind }
    const at = `${house.origin}/api/v1/lab/agents/mailer/fault`
    const answer = await page.context().request.post(at, { headers: { origin: house.origin }, data })
    expect(answer.status(), await answer.text()).toBe(200)
  }
  const mailer = page
    .getByRole('list', { name: 'Agents' })
    .getByRole('listitem')
    .filter({ hasText: 'mailer' })
  // One millisecond late harms nobody else.
  await make('slow')
  try {
    await page.goto('/agents')
    await expect(mailer).toContainText('Made to fail: Answers late')
    await isClean(page)
    await page.getByRole('button', { name: 'Set it right: mailer' }).click()
    await expect(page.getByText('mailer works again').first()).toBeVisible()
    await expect(mailer).not.toContainText('Made to fail')
  } finally {
    await make('none')
  }
})
