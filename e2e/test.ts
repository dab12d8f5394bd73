/*
 * What the tests of this folder are written with: Playwright's `test` with a house that is up, its administrator signed
 * in through the one-time link, and the API as a program has it. One house for each worker: tests share it, so each
 * starts what it looks at and leaves the rest alone. Tests that kill or need a first minute of their own make a `House`.
 */
import {
  type Browser,
  type BrowserContext,
  test as base,
  expect,
  type Locator,
  type Page,
} from '@playwright/test'
import { scopes } from '@/lib/auth/principal'
import { Api } from './api'
import { ada, House, startsWithinMs, stopsWithinMs } from './house'
import type { OutsideAgent } from './outside-agent'

type State = Awaited<ReturnType<BrowserContext['storageState']>>

interface Shared {
  house: House
  /** Cookies of the house's administrator. */
  signedIn: State
  /** Every scope there is. */
  api: Api
}

export const test = base.extend<object, Shared>({
  house: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads a fixture's needs from this pattern.
    async ({}, use) => {
      const house = new House()
      try {
        await house.start({ lab: true })
        await use(house)
      } finally {
        await house.remove()
      }
    },
    { scope: 'worker', timeout: startsWithinMs + stopsWithinMs },
  ],
  signedIn: [
    async ({ house, browser }, use) => {
      const context = await browser.newContext()
      await becomeAdministrator(await context.newPage(), house)
      const state = await context.storageState()
      await context.close()
      await use(state)
    },
    { scope: 'worker', timeout: startsWithinMs },
  ],
  api: [
    async ({ house, browser, signedIn }, use) => {
      const context = await browser.newContext({ storageState: signedIn })
      const api = new Api(house.origin, await makeApiToken(context, house))
      await context.close()
      await use(api)
    },
    { scope: 'worker' },
  ],
  baseURL: async ({ house }, use) => use(house.origin),
  storageState: async ({ signedIn }, use) => use(signedIn),
})

export { expect }

/** Opens the printed link and chooses a name and a password there; ends on the overview. */
export async function becomeAdministrator(page: Page, house: House): Promise<void> {
  await page.goto(house.firstLink())
  await page.getByLabel('Name').fill(ada.name)
  await page.getByLabel('Password', { exact: true }).fill(ada.password)
  await page.getByRole('button', { name: 'Become administrator' }).click()
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
}

/** Signs in on the sign-in page; ends wherever that leads. */
export async function signIn(page: Page, origin: string, who: { name: string; password: string }) {
  await page.goto(`${origin}/sign-in`)
  await page.getByLabel('Name').fill(who.name)
  await page.getByLabel('Password', { exact: true }).fill(who.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Of everybody but the administrator. */
export const othersPassword = 'seven small boats at anchor'

/** Somebody with an account that the administrator made, signed in on a browser of their own. */
export async function someone(
  browser: Browser,
  house: House,
  administrator: State,
  name: string,
  roles: string[],
): Promise<{ page: Page }> {
  const desk = await browser.newContext({ storageState: administrator })
  const made = await desk.request.post(`${house.origin}/api/v1/people`, {
    headers: { origin: house.origin },
    data: { name, password: othersPassword, roles },
  })
  expect(made.status()).toBe(201)
  await desk.close()
  const context = await browser.newContext({ storageState: undefined, baseURL: house.origin })
  const page = await context.newPage()
  await signIn(page, house.origin, { name, password: othersPassword })
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
  return { page }
}

/** A token with every scope, made by whoever is signed in there. */
export async function makeApiToken(
  context: BrowserContext,
  house: House,
  asked: { name?: string; scopes?: readonly string[] } = {},
): Promise<string> {
  const answer = await context.request.post(`${house.origin}/api/v1/tokens`, {
    headers: { origin: house.origin },
    data: { name: asked.name ?? 'tests', scopes: asked.scopes ?? scopes },
  })
  expect(answer.status()).toBe(201)
  return ((await answer.json()) as { secret: string }).secret
}

/** Tells the console of an agent, as its administrator. */
export async function register(context: BrowserContext, house: House, agent: OutsideAgent): Promise<void> {
  const { id, name, baseUrl, jwks } = agent
  const answer = await context.request.post(`${house.origin}/api/v1/agents`, {
    headers: { origin: house.origin },
    data: { id, name, base_url: baseUrl, jwks, replace: true },
  })
  expect(answer.status()).toBe(201)
}

/** Holds a button for as long as it asks to be held. */
export async function hold(page: Page, name: string | RegExp): Promise<void> {
  const button = page.getByRole('button', { name })
  await button.hover()
  await page.mouse.down()
  await expect(button).toBeHidden()
  await page.mouse.up()
}

/** What the page says of its run: the first status on it. */
export function status(page: Page): Locator {
  return page.getByRole('status').first()
}

/** A step on a graph, by its label; the bars of the timeline have the same names. */
export function graphNode(page: Page, label: string): Locator {
  const graph = page.getByRole('region', { name: /^Graph of/ })
  return graph.getByRole('button', { name: new RegExp(`^${label}:`) })
}
