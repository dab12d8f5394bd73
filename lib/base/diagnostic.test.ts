import { expect, it } from 'vitest'
import { type Diagnostic, worstFirst } from './diagnostic'

it('puts errors before warnings before notes, each in the order of the text', () => {
  const at = (severity: Diagnostic['severity'], line: number, column = 1): Diagnostic => ({
    severity,
    code: 'x',
    message: '',
    mend: '',
    line,
    column,
    path: '',
  })
  const found = [
    at('info', 1),
    at('warning', 2),
    at('error', 9),
    at('warning', 1, 7),
    at('error', 3),
    at('warning', 1, 2),
  ]
  expect(worstFirst(found).map(({ severity, line, column }) => `${severity} ${line}:${column}`)).toEqual([
    'error 3:1',
    'error 9:1',
    'warning 1:2',
    'warning 1:7',
    'warning 2:1',
    'info 1:1',
  ])
  expect(found[0]?.severity).toBe('info')
})
