/*
 * Writes a file of the project, commits it and prints the commit: what `write_file` is bound to.
 *
 *   keep-file.mjs FOLDER PATH CONTENT     prints what `git rev-parse HEAD` says
 *   keep-file.mjs --back FOLDER COMMIT    takes that commit back with one of its own, so that nothing is forgotten
 *
 * A link is written through by nobody: what stands in its place is replaced.
 */
import { lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { git, openRepository, placeIn } from './repository.mjs'

const [first, ...rest] = process.argv.slice(2)
try {
  process.stdout.write(first === '--back' ? takeBack(...rest) : keep(first, ...rest))
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

function keep(folder, name, content) {
  const repository = openRepository(folder)
  const place = placeIn(repository, name)
  mkdirSync(path.dirname(place), { recursive: true })
  if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(place)
  writeFileSync(place, content)
  git(repository, 'add', '--', place)
  // Also when nothing changed: each call has a commit of its own, which can be taken back alone.
  git(repository, 'commit', '--quiet', '--allow-empty', `--message=Write ${path.relative(repository, place)}`)
  return git(repository, 'rev-parse', 'HEAD')
}

function takeBack(folder, commit) {
  if (!/^[0-9a-f]{40}$/.test(commit)) throw new Error('A commit was expected')
  const repository = openRepository(folder)
  if (git(repository, 'diff', '--name-only', `${commit}^`, commit) === '') return 'It had changed nothing'
  if (isTakenBack(repository, commit)) return 'It was taken back before'
  git(repository, 'revert', '--no-edit', commit)
  return git(repository, 'rev-parse', 'HEAD')
}

function isTakenBack(repository, commit) {
  return git(repository, 'log', '--format=%B', `${commit}..HEAD`).includes(`This reverts commit ${commit}.`)
}
