/*
 * The incident reviewer's errand: where did the tests begin to pass, and what did the report say before and after? By
 * keyboard alone, in the address, with the bytes held against the ledger. What the model wrote is hostile on purpose: it
 * holds markup, braces, letters that run the other way, and none of it may be anything but text.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Page } from '@playwright/test'
import { Api } from './api'
import { House } from './house'
import { isClean } from './is-clean'
import { becomeAdministrator, expect, makeApiToken, status, test } from './test'

/** Writes until the tests pass. */
const pack = `id: write-and-test
name: Write and test
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  writer: { id: writer, name: Writer, version: 1.0.0, system_template: "You write. Last report: {{artifacts.report}}" }
  tester: { id: tester, name: Tester, version: 1.0.0, system_template: "You test." }
  closer: { id: closer, name: Closer, version: 1.0.0, system_template: "You sum up." }
workflow:
  version: 2
  entry: write
  engine:
    budget: { max_total_visits: 12 }
    backends:
      - { name: default, provider: scripted, path: answers.json }
  states:
    write:
      prompt_task: writer
      max_visits: 3
      on_max_visits: close
      artifacts:
        page: { type: text/html }
        notes: { type: text/plain, mode: append }
      on_event: { Written: check }
    check:
      prompt_task: tester
      artifacts:
        report: { type: application/json }
      on_event: { Failed: write, Passed: close }
    close: { prompt_task: closer, terminal: true }
`

const event = (name: string) => ({ name: 'workflow__transition', args: { event: name } })
const set = (name: string, value: unknown) => ({ name: 'workflow__set_artifact', args: { name, value } })
const calls = (...tool_calls: object[]) => ({ tool_calls })
const report = (pass: number) => ({
  pass,
  total: 3,
  cases: ['short', 'long', 'empty'].map((name, at) => ({ name, status: at < pass ? 'pass' : 'fail' })),
})
const hostile = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script> {{artifacts.report}}'
const hebrew = 'שלום \u202Egnihton'

const answers = {
  when: [
    {
      system: 'You write.',
      answers: [
        calls(set('page', hostile), set('notes', hebrew), event('Written')),
        calls(
          set('page', `${hostile}\n<p>more</p>`),
          set('notes', 'handled the long ones'),
          event('Written'),
        ),
      ],
    },
    {
      system: 'You test.',
      answers: [
        calls(set('report', report(1)), event('Failed')),
        calls(set('report', report(3)), event('Passed')),
      ],
    },
    { system: 'You sum up.', repeat: true, answers: ['All three pass.'] },
  ],
}

test.describe
  .serial('the artifacts of a run', () => {
    const house = new House()
    let api: Api
    let page: Page
    let run = ''
    test.beforeAll(async ({ browser }) => {
      house.prepare((data) => writeFileSync(path.join(data, 'answers.json'), JSON.stringify(answers)))
      await house.start({ env: { HOLDPOINT_AUTHORED: house.data } })
      const context = await browser.newContext({
        baseURL: house.origin,
        storageState: { cookies: [], origins: [] },
      })
      page = await context.newPage()
      await becomeAdministrator(page, house)
      api = new Api(house.origin, await makeApiToken(context, house))
      await page.goto('/workflows/import')
      await page.getByRole('textbox', { name: 'Text of the workflow' }).fill(pack)
      await page.getByRole('button', { name: 'Import write-and-test' }).click()
      await expect(page.getByRole('link', { name: 'Run…' })).toBeVisible()
      run = await ended(page, api)
    })
    test.afterAll(() => house.remove())

    const trace = () => page.getByRole('table', { name: 'Artifacts at each transition' })
    const row = (number: number) => trace().getByRole('row').nth(number)
    const comparison = () => page.getByRole('region', { name: 'Comparison of A and B' })
    const changes = (of: string) => page.getByRole('region', { name: `Changes of ${of}` })

    test('are a row for each transition, with what the run knew on arriving there', async () => {
      await page.goto(`/runs/${run}?show=artifacts`)
      await expect(trace().getByRole('row')).toHaveCount(6)
      await expect(row(1)).toContainText('(entry)')
      await expect(row(1)).toContainText('missing')
      await expect(row(3)).toContainText('Failed')
      await expect(row(3)).toContainText('2 of 3')
      await expect(row(3)).toContainText('1/3 pass')
      await expect(row(3)).toContainText('1 entry')
      await expect(row(5)).toContainText('3/3 pass')
      await expect(row(5)).toContainText('2 entries')
      // Unasked, the last change is held against the one before it.
      await expect(comparison().getByRole('button', { name: 'report 1/3 to 3/3 pass' })).toBeVisible()
      await isClean(page)
    })

    test('tell by keyboard where the tests began to pass, and what changed in the report', async () => {
      await page.goto(`/runs/${run}?show=artifacts&artifact=report`)
      await expect(row(5)).toContainText('3/3 pass')
      await page.keyboard.press('j')
      for (let at = 0; at < 4; at++) await page.keyboard.press('k')
      await page.keyboard.press('j')
      await page.keyboard.press('j')
      await page.keyboard.press('a')
      await expect(page).toHaveURL(/[?&]a=3\b/)
      await page.keyboard.press('j')
      await page.keyboard.press('b')
      await expect(page).toHaveURL(/[?&]b=4\b/)
      await expect(comparison()).toContainText('The same')
      await page.keyboard.press(']')
      await expect(page).toHaveURL(/[?&]b=5\b/)
      await expect(comparison().getByRole('button', { name: 'report 1/3 to 3/3 pass' })).toBeVisible()
      await expect(comparison()).toContainText('both hashes match the ledger')
      await expect(changes('report')).toContainText('removed: pass: 1')
      await expect(changes('report')).toContainText('added: pass: 3')
      await expect(comparison()).toContainText('Read bywriter')
      await expect(comparison()).toContainText('Written bytester')
      await isClean(page)
    })

    test('are what a link says, and forked from there', async () => {
      await page.reload()
      await expect(comparison()).toContainText('visit 2, Failed')
      await expect(comparison().getByRole('link', { name: 'Fork from B…' })).toHaveAttribute(
        'href',
        new RegExp(`/runs/${run}/fork\\?at=\\d+$`),
      )
      await comparison().getByRole('button', { name: 'Swap' }).click()
      await expect(page).toHaveURL(/[?&]a=5\b/)
      await expect(changes('report')).toContainText('removed: pass: 3')
    })

    test('are text, whatever they hold, and say what turns text about', async () => {
      await page.goto(`/runs/${run}?show=artifacts&row=5`)
      const values = page.getByRole('complementary', { name: 'Values at row 5' })
      await expect(values.getByRole('region', { name: 'Value of page' })).toContainText(hostile)
      const notes = values.getByRole('region', { name: 'notes', exact: true })
      await expect(notes).toContainText('שלום ⟨U+202E⟩gnihton')
      await expect(values.getByRole('region', { name: 'Value of report' })).toContainText('[ 3 items ]')
      expect(await page.evaluate(() => 'pwned' in window)).toBe(false)
      await expect(page.locator('main img')).toHaveCount(0)
      await isClean(page)
      await page.keyboard.press('Escape')
      await expect(values).toBeHidden()
    })

    test('are compared with those of another run, visit by visit', async () => {
      const other = await ended(page, api)
      await page.goto(`/runs/${run}`)
      await page.getByRole('button', { name: 'More for write-and-test' }).click()
      await page.getByRole('menuitem', { name: 'Compare with…' }).click()
      await page
        .getByRole('dialog')
        .getByRole('button', { name: new RegExp(other.slice(-4)) })
        .click()
      await expect(page).toHaveURL(new RegExp(`/runs/${run}/compare/${other}`))
      await expect(page.getByRole('status').filter({ hasText: 'visits are the same' })).toBeVisible()
      await expect(page.getByRole('table', { name: 'Visits of both runs' }).getByRole('row')).toHaveCount(6)
      await isClean(page)
    })
  })

/** A run of the pack, once it has come to its end. */
async function ended(page: Page, api: Api): Promise<string> {
  const run = await api.startRun('write-and-test')
  await page.goto(`/runs/${run}`)
  await expect(status(page)).toContainText('completed at close')
  return run
}
