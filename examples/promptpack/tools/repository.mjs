/*
 * The repository that the code-writing example works in. Its first commit is the folder slug-project beside this one:
 * the requirements, as a test. The environment of a command is empty, so everything git needs is said here; what the
 * machine's own git configuration says (hooks, signing, other people's names) stays out of it.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, realpathSync } from 'node:fs'
import path from 'node:path'

const settings = [
  ...['-c', 'user.name=Code Writer', '-c', 'user.email=coder@holdpoint.local'],
  ...['-c', 'commit.gpgsign=false', '-c', 'core.hooksPath=/dev/null', '-c', 'core.autocrlf=false'],
]
const env = {
  PATH: process.env.PATH,
  LANG: 'C.UTF-8',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
}

/** What git says, without the last line break. Throws what git complains of. */
export function git(folder, ...args) {
  const options = { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }
  return execFileSync('git', [...settings, ...args], options).replace(/\n$/, '')
}

/** The repository in that folder, begun with the project where there is none. Gives its real path. */
export function openRepository(folder) {
  if (!existsSync(path.join(folder, '.git'))) {
    mkdirSync(folder, { recursive: true })
    cpSync(path.join(import.meta.dirname, '../slug-project'), folder, { recursive: true })
    git(folder, 'init', '--quiet', '--initial-branch=main')
    git(folder, 'add', '--all')
    git(folder, 'commit', '--quiet', '--message=Say what is wanted, as a test')
  }
  return realpathSync(folder)
}

/** Where a name inside the repository leads. Throws for one that leads out of it, or into git's own folder. */
export function placeIn(repository, name) {
  const place = path.resolve(repository, name)
  const existing = deepestFolder(path.dirname(place))
  const inside = (one) => one === repository || one.startsWith(repository + path.sep)
  const parts = path.relative(repository, place).split(path.sep)
  if (!inside(place) || !inside(existing) || parts[0] === '' || parts[0] === '.git') {
    throw new Error(`${name} is no file of this project`)
  }
  return place
}

/** The deepest folder above a place that exists, where it really lies. */
function deepestFolder(folder) {
  return existsSync(folder) ? realpathSync(folder) : deepestFolder(path.dirname(folder))
}

/** Does the work with the arguments of the command line, prints what it gives, and says in one line what went wrong. */
export function run(work) {
  const [folder, ...named] = process.argv.slice(2)
  const args = named.map((arg) => [arg.slice(0, arg.indexOf('=')), arg.slice(arg.indexOf('=') + 1)])
  try {
    process.stdout.write(work({ ...Object.fromEntries(args), folder }))
  } catch (error) {
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  }
}
