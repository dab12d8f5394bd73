/*
 * Writes a file of the project, commits it and prints the commit: what `write_file` is bound to.
 *
 *   keep-file.mjs FOLDER path=PATH content=TEXT     prints what `git rev-parse HEAD` says
 *   keep-file.mjs FOLDER commit=COMMIT              takes that commit back with one of its own: nothing is forgotten
 *
 * Arguments have names so that no value of a model's is ever taken for an option.
 */
import { lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { git, openRepository, placeIn, run } from './repository.mjs'

run(({ folder, path: name, content, commit }) => {
  if (commit !== undefined) return takeBack(folder, commit)
  if (name === undefined || content === undefined) throw new Error('A path and a content were expected')
  return keep(folder, name, content)
})

function keep(folder, name, content) {
  const repository = openRepository(folder)
  const place = placeIn(repository, name)
  mkdirSync(path.dirname(place), { recursive: true })
  // Nobody writes through a link: what stands in its place is replaced.
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
  const since = git(repository, 'log', '--format=%B', `${commit}..HEAD`)
  if (since.includes(`This reverts commit ${commit}.`)) return 'It was taken back before'
  git(repository, 'revert', '--no-edit', commit)
  return git(repository, 'rev-parse', 'HEAD')
}
