/*
 * The grammar of a cron schedule: five fields, or six with seconds first. Each field is a list of values, ranges and
 * steps; months and days of the week have names. `L`, `W` and `#` are taken where cron has them (the last day, the
 * nearest weekday, the nth weekday). Whether a day ever comes (30 February) is not asked.
 */
import { quoted } from '@/lib/workflow/graph-problem'

interface Field {
  words: string
  least: number
  most: number
  names?: readonly string[]
  /** Forms of the field beside values, ranges and steps. */
  special?: RegExp
}

const months = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ')
const days = 'SUN MON TUE WED THU FRI SAT'.split(' ')
const dayName = '[0-7]|SUN|MON|TUE|WED|THU|FRI|SAT'

const fields: readonly Field[] = [
  { words: 'second', least: 0, most: 59 },
  { words: 'minute', least: 0, most: 59 },
  { words: 'hour', least: 0, most: 23 },
  {
    words: 'day of month',
    least: 1,
    most: 31,
    special: /^(\?|L|LW|L-([1-9]|[12]\d|30)|([1-9]|[12]\d|3[01])W)$/,
  },
  { words: 'month', least: 1, most: 12, names: months },
  {
    words: 'day of week',
    least: 0,
    most: 7,
    names: days,
    special: new RegExp(`^(\\?|L|(${dayName})(L|#[1-5]|#L))$`),
  },
]

/** What is wrong with a schedule, as a sentence, or undefined when it is one. */
export function cronFault(schedule: string): string | undefined {
  const parts = schedule.trim().split(/\s+/)
  if (parts.length !== 5 && parts.length !== 6)
    return 'A cron schedule of five fields was expected (minute, hour, day of month, month, day of week), or six with seconds first.'
  const first = fields.length - parts.length
  for (const [at, part] of parts.entries()) {
    const field = fields[first + at]
    const fault = field && fieldFault(part.toUpperCase(), field)
    if (fault) return fault
  }
  return undefined
}

function fieldFault(part: string, field: Field): string | undefined {
  for (const item of part.split(',')) {
    if (field.special?.test(item) || isItem(item, field)) continue
    const names = field.names ? `, or ${field.names[0]} to ${field.names.at(-1)}` : ''
    return `The ${field.words} ${quoted(item.slice(0, 40))} is none; ${field.least} to ${field.most}${names}, a range such as ${field.least}-${field.least + 3}, a step such as */2 or * was expected.`
  }
  return undefined
}

/** `*`, `5`, `1-5`, each with a step or without. */
function isItem(item: string, field: Field): boolean {
  const [range = '', step, ...more] = item.split('/')
  if (more.length > 0 || (step !== undefined && !isStep(step, field))) return false
  if (range === '*') return true
  const [from = '', to, ...rest] = range.split('-')
  const begin = numberOf(from, field)
  if (begin === undefined || rest.length > 0) return false
  if (to === undefined) return true
  const end = numberOf(to, field)
  // FRI-SUN ends on the seventh day.
  return end !== undefined && (begin <= end || (field.names === days && end === 0))
}

function isStep(step: string, { most }: Field): boolean {
  return /^\d{1,3}$/.test(step) && Number(step) >= 1 && Number(step) <= most + 1
}

function numberOf(text: string, { least, most, names }: Field): number | undefined {
  const named = names?.indexOf(text) ?? -1
  if (names && named >= 0) return named + (names === months ? 1 : 0)
  if (!/^\d{1,2}$/.test(text)) return undefined
  const value = Number(text)
  return value >= least && value <= most ? value : undefined
}
