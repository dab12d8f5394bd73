/*
 * Runs that are large or odd, as a reviewer meets them: thousands of transitions, 2,000 states, values of 20 MB, values that
 * would like to be run, tokens of a later version. The film says the right moment, no view is blank, nothing is run.
 * How long it takes, and 50,000 transitions, are for `npm run bench` (lib/cli/bench/large.ts).
 */
import type { Page } from '@playwright/test'
import { openBenchHouse } from '@/lib/cli/bench/house'
import { type WrittenRun, writeOdd, writeWalk } from '@/lib/cli/bench/large-runs'
import { hostileHtml, unknownAct } from '@/lib/cli/bench/odd-history'
import { House } from './house'
import { becomeAdministrator, expect, status, test } from './test'

test.describe
  .serial('a run', () => {
    const house = new House()
    const troubles: string[] = []
    let page: Page
    let long: WrittenRun
    let wide: WrittenRun
    let odd: WrittenRun
    test.beforeAll(async ({ browser }) => {
      house.prepare(() => {})
      const written = await openBenchHouse({ dataDir: house.data })
      long = await writeWalk(written.installation, { transitions: 15_000, states: 50 })
      wide = await writeWalk(written.installation, { transitions: 3_000, states: 2_000 })
      odd = await writeOdd(written.installation, 20_000_000)
      await written.close()
      await house.start()
      const context = await browser.newContext({
        baseURL: house.origin,
        storageState: { cookies: [], origins: [] },
      })
      page = await context.newPage()
      page.on('pageerror', (error) => troubles.push(error.message))
      page.on('response', (response) => {
        if (response.status() >= 500) troubles.push(`${response.status()} ${response.url()}`)
      })
      page.on('dialog', (dialog) => {
        troubles.push(`dialog: ${dialog.message()}`)
        void dialog.dismiss()
      })
      await becomeAdministrator(page, house)
    })
    test.afterEach(async () => {
      expect(await page.evaluate(() => 'pwned' in window)).toBe(false)
      expect(troubles).toEqual([])
    })
    test.afterAll(() => house.remove())

    const head = () => page.getByRole('slider', { name: 'Moment of the run' })
    const tab = (name: string) =>
      page
        .getByRole('navigation', { name: 'Views of the run' })
        .getByRole('link', { name: new RegExp(`^${name}`) })
    const changes = (of: string) => page.getByRole('region', { name: `Changes of ${of}` })
    const steps = () => page.locator('.react-flow__node')

    async function open(run: WrittenRun, search = '') {
      await page.goto(`/runs/${run.run}${search}`)
      await expect(head()).toHaveAttribute('aria-valuemax', String(run.tokens))
    }

    /** The moment the film is at; the rest of the page says the same. */
    async function standsAt(seq: number, of: WrittenRun) {
      await expect(head()).toHaveAttribute('aria-valuenow', String(seq))
      await expect(status(page)).toContainText(
        `token ${seq.toLocaleString('en')} of ${of.tokens.toLocaleString('en')}`,
      )
    }

    /** Along the whole film and back to a place on it, from 0 to 1. */
    async function drag(to: number) {
      const box = await page.locator('[data-tokens]').boundingBox()
      if (!box) throw new Error('There is no film to drag on')
      const y = box.y + box.height / 2
      await page.mouse.move(box.x + box.width - 4, y)
      await page.mouse.down()
      for (let step = 0; step <= 10; step++) await page.mouse.move(box.x + (box.width * step) / 10, y)
      await page.mouse.move(box.x + box.width * to, y)
      await page.mouse.up()
    }

    test('of 15,000 transitions is gone over, and always shows the moment it says', async () => {
      await open(long)
      await expect(steps()).not.toHaveCount(0)
      await page.keyboard.press('Home')
      await standsAt(1, long)
      for (let at = 0; at < 5; at++) await page.keyboard.press('ArrowRight')
      await standsAt(6, long)
      await page.keyboard.press('Shift+ArrowRight')
      await expect(head()).toHaveAttribute('aria-valuetext', /token \d+ of/)
      await expect.poll(async () => Number(await head().getAttribute('aria-valuenow'))).toBeGreaterThan(6)

      await drag(0.5)
      const middle = Number(await head().getAttribute('aria-valuenow'))
      expect(middle).toBeGreaterThan(long.tokens / 4)
      await standsAt(middle, long)
      await page.keyboard.press('ArrowLeft')
      await standsAt(middle - 1, long)
      await expect(steps()).not.toHaveCount(0)

      await test.step('it plays', async () => {
        const film = page.getByRole('region', { name: 'Timeline' })
        await film.getByRole('button', { name: 'Play', exact: true }).click()
        await expect
          .poll(async () => Number(await head().getAttribute('aria-valuenow')))
          .toBeGreaterThan(middle - 1)
        await film.getByRole('button', { name: 'Stop playing' }).click()
      })

      await test.step('its ledger has all tokens, and stands where the film does', async () => {
        const at = Number(await head().getAttribute('aria-valuenow'))
        await tab('Ledger').click()
        const table = page.getByRole('table', { name: 'Ledger' })
        await expect(table).toHaveAttribute('aria-rowcount', String(long.tokens + 1))
        await expect(table.locator('[data-place=here]')).toContainText(String(at))
      })

      await test.step('a link opens at its moment, with positions far apart compared', async () => {
        await open(long, '?at=30000&show=artifacts&a=20&b=3000&artifact=commit')
        await standsAt(30_000, long)
        await expect(changes('commit')).toBeVisible()
        await expect(page.getByRole('region', { name: 'Comparison of A and B' })).toContainText(
          'both hashes match the ledger',
        )
      })
    })

    test('of 2,000 states is drawn, searched and gone over', async () => {
      await open(wide)
      await expect(steps()).not.toHaveCount(0)
      await page.keyboard.press('Home')
      await standsAt(1, wide)
      await drag(0.3)
      await standsAt(Number(await head().getAttribute('aria-valuenow')), wide)
      await expect(steps()).not.toHaveCount(0)
    })

    test('with values of 20 MB, markup, bytes and nothing in them shows them as what they are', async () => {
      await open(odd, '?show=artifacts&a=3&b=5&artifact=long_text')
      await expect(changes('long_text')).toContainText('added: other time')
      for (const [name, words] of [
        ['long_json', 'pass'],
        ['page', '<p>more</p>'],
        ['other_way', '⟨U+202E⟩'],
      ] as const) {
        await open(odd, `?show=artifacts&a=3&b=5&artifact=${name}`)
        await expect(changes(name)).toContainText(words)
      }
      await open(odd, '?show=artifacts&row=5')
      const values = page.getByRole('complementary', { name: 'Values at row 5' })
      await expect(values.getByRole('region', { name: 'Value of page' })).toContainText(hostileHtml)
      await expect(page.locator('main img, main svg script')).toHaveCount(0)
    })

    test('with tokens of a later version shows them by their own names, and all the rest', async () => {
      await open(odd)
      await expect(steps()).toHaveCount(2)
      await tab('Ledger').click()
      const table = page.getByRole('table', { name: 'Ledger' })
      await expect(table).toHaveAttribute('aria-rowcount', String(odd.tokens + 1))
      await expect(table).toContainText(unknownAct)
      await expect(table).toContainText('acme:beam_up')
      await page.keyboard.press('Home')
      for (let seq = 2; seq <= odd.tokens; seq++) {
        await page.keyboard.press('ArrowRight')
        await expect(head()).toHaveAttribute('aria-valuenow', String(seq))
      }
    })
  })
