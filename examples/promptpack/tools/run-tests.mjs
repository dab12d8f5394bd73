/*
 * Runs tests of the project with node's own test runner and prints the report as one line of JSON: what `run_tests` is
 * bound to. Tests that fail are a report too; this program fails only when there is nothing to run.
 *
 *   run-tests.mjs FOLDER test_path=PATH
 *   {"summary":"2/5 pass","pass":2,"fail":3,"total":5,"failures":["leaves punctuation out: …"]}
 *
 * The project's code is whatever a model wrote, and it runs here with the rights of whoever runs Holdpoint. Give it a
 * machine or an account of its own when the model is a real one.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { openRepository, placeIn, run } from './repository.mjs'

run(({ folder, test_path }) => {
  const repository = openRepository(folder)
  const place = placeIn(repository, test_path ?? '')
  if (!existsSync(place)) throw new Error(`There is no ${test_path} in this project`)
  const options = ['--test', `--test-reporter=${path.join(import.meta.dirname, 'test-report.mjs')}`]
  const { stdout, error } = spawnSync(process.execPath, [...options, ...testFiles(place)], {
    cwd: repository,
    env: { PATH: process.env.PATH, LANG: 'C.UTF-8' },
    encoding: 'utf8',
    timeout: 20_000,
  })
  if (error) throw error
  return stdout
})

/** The file, or the tests in the folder: node's versions disagree on what a folder means. */
function testFiles(place) {
  if (!statSync(place).isDirectory()) return [place]
  const names = readdirSync(place).filter((name) => name.endsWith('.test.mjs'))
  if (names.length === 0) throw new Error('There are no tests in that folder')
  return names.map((name) => path.join(place, name))
}
