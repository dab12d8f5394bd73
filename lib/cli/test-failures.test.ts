import { expect, test } from 'vitest'
import { failureLines, failuresOfPlaywright, failuresOfVitest } from './test-failures.mjs'

test('names each failed test of Vitest, and a file that does not load', () => {
  const passed = { status: 'passed', fullName: 'is fine', failureMessages: [] }
  const failed = { status: 'failed', fullName: 'adds up', failureMessages: ['expected 3 to be 2'] }
  const testResults = [
    { name: 'a.test.ts', status: 'failed', assertionResults: [passed, failed] },
    { name: 'b.test.ts', status: 'failed', message: 'Cannot find module', assertionResults: [] },
    { name: 'c.test.ts', status: 'passed', assertionResults: [passed] },
  ]
  expect(failuresOfVitest({ testResults })).toEqual([
    { where: 'a.test.ts › adds up', message: 'expected 3 to be 2' },
    { where: 'b.test.ts', message: 'Cannot find module' },
  ])
})

test('names each failed test of Playwright by its place, one that passed when tried again among them', () => {
  const spec = (title: string, status: string) => ({
    ...{ title, file: 'e2e/a.spec.ts', line: 7 },
    tests: [{ status, results: [{ errors: [{ message: `${title} went wrong` }] }] }],
  })
  const inner = {
    title: 'a run',
    file: 'e2e/a.spec.ts',
    specs: [spec('ends', 'flaky'), spec('begins', 'expected')],
  }
  const outer = {
    title: 'e2e/a.spec.ts',
    file: 'e2e/a.spec.ts',
    specs: [spec('opens', 'unexpected')],
    suites: [inner],
  }
  expect(failuresOfPlaywright({ suites: [outer] })).toEqual([
    { where: 'e2e/a.spec.ts:7 › opens', message: 'opens went wrong' },
    { where: 'e2e/a.spec.ts:7 › a run › ends', message: 'ends went wrong' },
  ])
  const errors = [{ message: 'The console did not start' }]
  expect(failuresOfPlaywright({ suites: [], errors })).toEqual([
    { where: 'before any test', message: 'The console did not start' },
  ])
})

test('says only how many more there are after twenty, and nothing when all passed', () => {
  const failures = Array.from({ length: 23 }, (_, at) => ({ where: `test ${at}`, message: 'no' }))
  expect(failureLines(failures).at(-1)).toBe('and 3 more')
  expect(failureLines(failures.slice(0, 1))).toEqual(['What failed:', '✗ test 0', '  │ no'])
  expect(failureLines([])).toEqual([])
})
