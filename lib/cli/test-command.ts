import path from 'node:path'
import { isProblem } from '@/lib/base/problem'
import type { Fixture } from '@/lib/server/fixtures/fixture'
import type { FixtureResult } from '@/lib/server/fixtures/run-fixtures'
import { exitCode } from './exit-codes'
import { UsageError } from './usage-error'

/** Of one fixture at most this many sentences are printed; --json has them all. */
const maxPrinted = 12

/**
 * `holdpoint test DIR…`: runs the fixtures in folders against mocked models and tools, and prints what differs from what
 * they expect. Exit 0 when none does, 5 when one does. Throws UsageError when there is nothing to run.
 */
export async function testCommand(places: string[], options: { json?: boolean }): Promise<number> {
  const files = await found(places)
  const { readFixture } = await import('@/lib/server/fixtures/read-fixture')
  const read = await Promise.all(files.map((file) => readFixture(file, nameOf(file))))
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  const results: FixtureResult[] = []
  const told = (result: FixtureResult) => {
    results.push(result)
    if (!options.json) print(result)
  }
  for (const one of read) if ('faults' in one) told(unreadable(one))
  const fixtures = read.flatMap((one): Fixture[] => ('fixture' in one ? [one.fixture] : []))
  const { runFixtures } = await import('@/lib/server/fixtures/run-fixtures')
  if (fixtures.length > 0) await runFixtures(fixtures, { signal: stop.signal, told })
  const passed = results.filter((result) => result.passed).length
  const failed = read.length - passed
  if (options.json) console.log(JSON.stringify({ passed, failed, fixtures: results }))
  else console.log(`${passed} passed, ${failed} failed`)
  return failed === 0 ? exitCode.ok : exitCode.failed
}

async function found(places: string[]): Promise<string[]> {
  const { findFixtures } = await import('@/lib/server/fixtures/find-fixtures')
  try {
    const files = await findFixtures(places)
    if (files.length > 0) return files
  } catch (error) {
    if (isProblem(error)) throw new UsageError(error.message)
    throw error
  }
  throw new UsageError(
    `there is no fixture in ${places.join(', ')}; a fixture is a folder with workflow.toml and fixture.toml, or a scenario in one file`,
  )
}

/** A folder's fixture is known by the folder, a scenario by its file. */
function nameOf(file: string): string {
  const place = path.basename(file) === 'fixture.toml' ? path.dirname(file) : file
  return path.relative('', place) || '.'
}

function unreadable({ file, faults }: { file: string; faults: string[] }): FixtureResult {
  const counts = { trials: 0, passedTrials: 0, modelCalls: 0, tokens: 0 }
  return { name: nameOf(file), file, passed: false, differences: faults, ...counts }
}

function print({ name, passed, differences, trials, passedTrials }: FixtureResult): void {
  const tries = trials > 1 ? ` (${passedTrials} of ${trials} trials)` : ''
  console.log(`${passed ? 'pass' : 'FAIL'}  ${name}${tries}`)
  if (passed) return
  for (const sentence of differences.slice(0, maxPrinted)) console.log(`      ${sentence}`)
  if (differences.length > maxPrinted) console.log(`      and ${differences.length - maxPrinted} more`)
}
