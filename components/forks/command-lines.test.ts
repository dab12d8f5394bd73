import { expect, it } from 'vitest'
import { commandLines } from './command-lines'

it('reads a text of several lines as its lines, under its name', () => {
  const content = 'export const a = "x\\\\n"\n return a\n'
  expect(commandLines(`Run /bin/dash keep.sh path=a.mjs ${JSON.stringify(`content=${content}`)}`)).toEqual([
    '/bin/dash keep.sh path=a.mjs',
    'content=',
    'export const a = "x\\\\n"',
    ' return a',
  ])
})

it('leaves a command of one line as it was said', () => {
  expect(commandLines('Run /bin/dash "two words" x=1')).toEqual(['/bin/dash "two words" x=1'])
})

it('reads what there is of a sentence that was cut', () => {
  expect(commandLines('Run /bin/dash "content=a\\nb…')).toEqual(['/bin/dash', 'content=', 'a', 'b…'])
})

it('shows no character that cannot be seen', () => {
  expect(commandLines('Run /bin/dash "a\\nb\\u001bc"')).toEqual(['/bin/dash', 'a', 'b\\u001bc'])
})

it('is of commands alone', () => {
  expect(commandLines('Write 12 bytes to /tmp/a')).toBeUndefined()
  expect(commandLines('Run the tests')).toBeUndefined()
})
