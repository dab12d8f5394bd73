/*
 * What `npm start` and `npm test` show while they work: one line when a stage begins, its progress, one line with the
 * time it took. Plain Node without packages, because these run before anything is installed.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

/** The folder of the checkout. */
export const root = fileURLToPath(new URL('../../', import.meta.url))

/** Lines of a program's output that are kept to be shown when it fails. */
const keptLines = 120
const keptChars = 64 * 1024
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP']
/** A stage that says nothing for this long says that it is still at work. */
const stillAtWorkMs = 15_000

let out = process.stdout

/** From now on, stages speak on this stream: a command whose standard output is data lets them speak on the other. */
export function speakOn(stream) {
  out = stream
}

/** One line for people. */
export function say(line) {
  out.write(`${line}\n`)
}

/** A stage that ended badly, in one sentence; `details` are the last lines of what was printed. */
export class StageFailed extends Error {
  name = 'StageFailed'

  constructor(sentence, details = []) {
    super(sentence)
    this.details = details
  }
}

/** Seconds since `begun` (ms since the epoch), for people: `0.4 s`, `1 min 12 s`. */
export function took(begun) {
  const seconds = (Date.now() - begun) / 1000
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`
  // Rounded first: 239.7 s are 4 min 0 s, not 3 min 60 s.
  const whole = Math.round(seconds)
  return `${Math.floor(whole / 60)} min ${whole % 60} s`
}

/** Says what begins, does it, says how long it took. Throws what `work` throws, after saying that it failed. */
export async function stage(title, work) {
  const begun = Date.now()
  say(`▸ ${title} …`)
  const timer = setInterval(() => say(`  still at it after ${took(begun)}`), stillAtWorkMs)
  timer.unref()
  try {
    const result = await work()
    say(`  done in ${took(begun)}`)
    return result
  } catch (error) {
    say(`  failed after ${took(begun)}`)
    throw error
  } finally {
    clearInterval(timer)
  }
}

/**
 * Runs a program to its end. `show: true` lets it write to the terminal; otherwise its output is kept back.
 * Returns its exit code (1 when a signal ended it, 127 when it could not be started) and the last lines it printed.
 */
export function run(command, args, { env = {}, show = false } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let last = ''
    const keep = (chunk) => {
      last = (last + chunk).slice(-keptChars)
    }
    const tail = () => stripVTControlCharacters(last).split('\n').filter(Boolean).slice(-keptLines)
    child.stdout.on('data', (chunk) => {
      keep(chunk)
      if (show) out.write(chunk)
    })
    child.stderr.on('data', (chunk) => {
      keep(chunk)
      if (show) process.stderr.write(chunk)
    })
    const over = (result) => {
      for (const signal of stopSignals) process.off(signal, stop)
      resolve(result)
    }
    // Stopped from outside: what was started stops too. An install left running would fight with the next one.
    const stop = (signal) => {
      child.kill(signal)
      child.once('close', () => process.exit(130))
    }
    for (const signal of stopSignals) process.on(signal, stop)
    child.on('error', (error) => over({ code: 127, tail: [error.message] }))
    child.on('close', (code) => over({ code: code ?? 1, tail: tail() }))
  })
}

/** Runs a program that must succeed. Throws StageFailed with the sentence and its last lines. */
export async function must(sentence, command, args, options) {
  const result = await run(command, args, options)
  if (result.code !== 0) throw new StageFailed(`${sentence} (exit code ${result.code})`, result.tail)
  return result
}

/** Prints a failure for people: the sentence, and the last lines of what led to it. */
export function explain(error) {
  console.error(`\n✗ ${error instanceof Error ? error.message : String(error)}`)
  for (const line of error?.details ?? []) console.error(`  │ ${line}`)
  if (!(error instanceof StageFailed) && error?.stack) console.error(error.stack)
}
