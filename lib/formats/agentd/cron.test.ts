import { describe, expect, it } from 'vitest'
import { cronFault } from './cron'

describe('a cron schedule', () => {
  it.each([
    '* * * * *',
    '0 0 * * *',
    '*/15 9-17 * * MON-FRI',
    '0,30 0-23/2 1,15 JAN,jul *',
    '5/10 * * * *',
    '30 0 0 1 1 *',
    '0 0 L * *',
    '0 0 15W * ?',
    '0 0 * * FRI#2',
    '0 0 * * 5L',
    '0 0 * * 7',
    '0 0 * * FRI-SUN',
    '  0   0 * * 1-5  ',
  ])('may be %s', (schedule) => {
    expect(cronFault(schedule)).toBeUndefined()
  })

  it.each([
    ['99 * * * *', 'The minute "99" is none; 0 to 59'],
    ['* 24 * * *', 'The hour "24"'],
    ['* * 0 * *', 'The day of month "0"'],
    ['* * * 13 *', 'The month "13" is none; 1 to 12, or JAN to DEC'],
    ['* * * * 8', 'The day of week "8"'],
    ['60 * * * * *', 'The second "60"'],
    ['*/0 * * * *', 'The minute "*/0"'],
    ['*/99 * * * *', 'The minute "*/99"'],
    ['9-3 * * * *', 'The minute "9-3"'],
    ['1,,2 * * * *', 'The minute ""'],
    ['1-2-3 * * * *', 'The minute "1-2-3"'],
    ['* * * FOO *', 'The month "FOO"'],
    ['MON * * * *', 'The minute "MON"'],
    ['* * * *', 'A cron schedule of five fields was expected'],
    ['* * * * * * *', 'A cron schedule of five fields was expected'],
    ['', 'A cron schedule of five fields was expected'],
  ])('is not %s', (schedule, words) => {
    expect(cronFault(schedule)).toContain(words)
  })
})
