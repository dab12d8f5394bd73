/*
 * Runs tests of the project with node's own test runner and prints the report as one line of JSON: what `run_tests` is
 * bound to. Tests that fail are a report too; this program fails only when there is nothing to run.
 *
 *   run-tests.mjs FOLDER TEST_PATH
 *   {"summary":"2/5 pass","pass":2,"fail":3,"total":5,"failures":["leaves punctuation out: …"]}
 *
 * The project's code is whatever a model wrote, and it runs here with the rights of whoever runs Holdpoint. Give it a
 * machine or an account of its own when the model is a real one.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { openRepository, placeIn } from './repository.mjs'

const [folder, testPath] = process.argv.slice(2)
try {
  const repository = openRepository(folder)
  const place = placeIn(repository, testPath)
  if (!existsSync(place)) throw new Error(`There is no ${testPath} in this project`)
  const reporter = path.join(import.meta.dirname, 'test-report.mjs')
  const options = ['--test', `--test-reporter=${reporter}`]
  const { stdout, error } = spawnSync(process.execPath, [...options, ...testFiles(place)], {
    cwd: repository,
    env: { PATH: process.env.PATH, LANG: 'C.UTF-8' },
    encoding: 'utf8',
    timeout: 20_000,
  })
  if (error) throw error
  process.stdout.write(stdout)
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

/** The file, or the tests in the folder: node's versions disagree on what a folder means. */
function testFiles(place) {
  if (!statSync(place).isDirectory()) return [place]
  const names = readdirSync(place).filter((name) => name.endsWith('.test.mjs'))
  if (names.length === 0) throw new Error('There are no tests in that folder')
  return names.map((name) => path.join(place, name))
}
