/*
 * `npm test`: everything that must hold, on a fresh clone, with no other command first. A stage that fails does not
 * keep the later ones from running; the last line is always `N passed, N failed`.
 *
 *   npm test -- --only unit,lint     runs these stages alone: types lint unused schema unit build browser
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { checkNamedChromium, chromium } from './browser.mjs'
import { buildConsole, buildPrograms } from './build.mjs'
import { setStamp, stampHolds, stampOf } from './content-stamp.mjs'
import { generateClient } from './generate.mjs'
import { installMissing } from './install.mjs'
import { explain, must, root, run, StageFailed, say, stage, took } from './stages.mjs'
import { failureLines, failuresOfPlaywright, failuresOfVitest } from './test-failures.mjs'

const reports = path.join(root, 'test-results')
const node = process.execPath

/** Each stage returns how many tests passed and which failed, or nothing when it is one test by itself. */
const stages = {
  types: () => stage('Checking types', checkTypes),
  lint: () =>
    stage('Checking style', () =>
      must('Biome found something', node, [
        'node_modules/@biomejs/biome/bin/biome',
        'ci',
        '--colors=off',
        '--max-diagnostics=50',
        '--diagnostic-level=error',
      ]),
    ),
  unused: () =>
    stage('Looking for what nothing uses', () =>
      must('Knip found something', node, ['node_modules/knip/bin/knip.js', '--no-progress']),
    ),
  schema: () => stage('Comparing the database models with their migrations', compareSchema),
  unit: () => stage('Running unit, property, contract and simulation tests', unitTests),
  build: () => stage('Building', buildAll),
  browser: () => stage('Running browser tests', browserTests),
}

async function checkTypes() {
  if (existsSync(path.join(root, 'app'))) await generateRouteTypes()
  await must('TypeScript found mistakes', node, [
    'node_modules/typescript/bin/tsc',
    '--noEmit',
    '--pretty',
    'false',
  ])
}

/** Next writes the types of routes and of imported assets; they follow from the files in app. */
async function generateRouteTypes() {
  const stampFile = path.join(root, 'node_modules/.cache/holdpoint/route-types.stamp')
  const stamp = stampOf(['app', 'next.config.mjs', 'package-lock.json'])
  if (stampHolds(stampFile, stamp) && existsSync(path.join(root, 'next-env.d.ts'))) return
  await must(
    'Next could not write the types of its routes',
    node,
    ['node_modules/next/dist/bin/next', 'typegen'],
    {
      env: { NEXT_TELEMETRY_DISABLED: '1' },
    },
  )
  setStamp(stampFile, stamp)
}

async function compareSchema() {
  await must('The models and the migrations differ', node, ['lib/store/schema-diff.mjs', 'sqlite', '--check'])
}

async function unitTests() {
  const report = path.join(reports, 'unit.json')
  rmSync(report, { force: true })
  await run(
    node,
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
    ],
    { show: true, env: { NO_COLOR: '1' } },
  )
  const read = readReport(report, 'Vitest')
  return { passed: read.numPassedTests, failures: failuresOfVitest(read) }
}

async function buildAll() {
  await buildPrograms()
  if (existsSync(path.join(root, 'app'))) await buildConsole()
}

async function browserTests() {
  checkNamedChromium()
  const executable = await chromium()
  await buildAll()
  const report = path.join(reports, 'browser.json')
  rmSync(report, { force: true })
  await run(
    node,
    ['node_modules/@playwright/test/cli.js', 'test', '--reporter=list,json', '--pass-with-no-tests'],
    {
      show: true,
      env: {
        NO_COLOR: '1',
        PLAYWRIGHT_JSON_OUTPUT_FILE: report,
        ...(executable ? { HOLDPOINT_CHROMIUM: executable } : {}),
      },
    },
  )
  const read = readReport(report, 'Playwright')
  return { passed: read.stats.expected, failures: failuresOfPlaywright(read) }
}

function readReport(file, program) {
  if (!existsSync(file))
    throw new StageFailed(`${program} ended before it could report; see what it said above`)
  return JSON.parse(readFileSync(file, 'utf8'))
}

function chosenStages() {
  const { values } = parseArgs({ options: { only: { type: 'string' } } })
  const only = values.only?.split(',') ?? Object.keys(stages)
  const unknown = only.find((name) => !(name in stages))
  if (unknown)
    throw new StageFailed(`There is no stage "${unknown}"; there are: ${Object.keys(stages).join(' ')}.`)
  return only
}

async function main() {
  const begun = Date.now()
  let passed = 0
  const failed = []
  const attempt = async (name, work) => {
    try {
      const done = (await work()) ?? {}
      passed += done.passed ?? 1
      failed.push(...(done.failures ?? []))
      return true
    } catch (error) {
      explain(error)
      failed.push({ where: name, message: [error.message, ...(error.details ?? [])].join('\n') })
      return false
    }
  }
  mkdirSync(reports, { recursive: true })
  let chosen = []
  const ready = await attempt('getting ready', async () => {
    chosen = chosenStages()
    await installMissing()
    await generateClient()
    return { passed: 0 }
  })
  if (ready) for (const name of chosen) await attempt(name, stages[name])
  for (const line of ['', ...failureLines(failed), `Took ${took(begun)}.`]) say(line)
  say(`${passed} passed, ${failed.length} failed`)
  process.exitCode = failed.length > 0 ? 1 : 0
}

await main()
