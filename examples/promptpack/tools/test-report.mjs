/* A reporter for node's test runner: counts and failures as one line of JSON (see run-tests.mjs). */
import path from 'node:path'

const maxFailures = 50
const maxWordsChars = 300

export default async function* testReport(events) {
  let pass = 0
  const failures = []
  for await (const { type, data } of events) {
    if (data?.details?.type === 'suite') continue
    if (type === 'test:pass') pass++
    if (type === 'test:fail') failures.push(`${path.basename(data.name)}: ${wordsOf(data.details.error)}`)
  }
  const fail = failures.length
  const total = pass + fail
  const summary = `${pass}/${total} pass`
  yield JSON.stringify({ summary, pass, fail, total, failures: failures.slice(0, maxFailures) })
}

/** What went wrong, in one line; the runner wraps the error that was thrown. */
function wordsOf(error) {
  const thrown = error?.cause ?? error ?? {}
  const words =
    thrown.code === 'ERR_ASSERTION' && 'expected' in thrown
      ? `expected ${JSON.stringify(thrown.expected)}, found ${JSON.stringify(thrown.actual)}`
      : String(thrown.message ?? thrown).split('\n')[0]
  return words.slice(0, maxWordsChars)
}
