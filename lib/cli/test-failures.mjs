/*
 * What failed, read from the reports of the test programs: said once more at the very end of `npm test`, because what
 * was printed where it happened has long gone past by then.
 */

/** Lines of a failure's message that are repeated at the end; the whole stands above and in the report. */
const messageLines = 12
/** Failures that are named; of more, only how many. */
const named = 20

/** Failures in Vitest's JSON report, as `{ where, message }`. A file that does not even load is one failure. */
export function failuresOfVitest({ testResults }) {
  return testResults.flatMap((file) => {
    const failed = file.assertionResults.filter((test) => test.status === 'failed')
    if (failed.length === 0 && file.status === 'failed') return [{ where: file.name, message: file.message }]
    return failed.map((test) => ({
      where: `${file.name} › ${test.fullName}`,
      message: test.failureMessages.join('\n'),
    }))
  })
}

/** Failures in Playwright's JSON report. A test that passes only when tried again hides a race, and is one. */
export function failuresOfPlaywright({ suites = [], errors = [] }) {
  const specs = suites.flatMap((suite) => specsIn(suite))
  const failed = specs.flatMap(({ spec, titles }) =>
    spec.tests
      .filter((test) => test.status === 'unexpected' || test.status === 'flaky')
      .map((test) => ({
        where: `${spec.file}:${spec.line} › ${[...titles, spec.title].join(' › ')}`,
        message: test.results
          .flatMap((result) => result.errors)
          .map((error) => error.message)
          .join('\n'),
      })),
  )
  return failed.length > 0
    ? failed
    : errors.map((error) => ({ where: 'before any test', message: error.message }))
}

function specsIn(suite, above = []) {
  // The outermost suite is the file, whose name the specs carry themselves.
  const titles = suite.title === suite.file ? above : [...above, suite.title]
  const own = (suite.specs ?? []).map((spec) => ({ spec, titles }))
  return [...own, ...(suite.suites ?? []).flatMap((inner) => specsIn(inner, titles))]
}

/** The lines in which the failures are told again; none when there are none. */
export function failureLines(failures) {
  if (failures.length === 0) return []
  const more = failures.length - named
  return [
    'What failed:',
    ...failures.slice(0, named).flatMap(({ where, message = '' }) => {
      const lines = message.split('\n').filter((line) => line.trim() !== '')
      return [`✗ ${where}`, ...lines.slice(0, messageLines).map((line) => `  │ ${line}`)]
    }),
    ...(more > 0 ? [`and ${more} more`] : []),
  ]
}
