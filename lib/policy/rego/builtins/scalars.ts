/** Versions, units and times. */
import { asInteger, integerOf, multiply, numberOf, parseNumber, RegoNumber, wholePart } from '../numbers'
import { BuiltinError, RegoFailed } from '../refusal'
import { isArray, type Value } from '../values'
import { type Builtin, builtin, integerOperand } from './builtin'

// --- semver --------------------------------------------------------------------------------------------------------

interface Version {
  parts: bigint[]
  pre: string
}

function version(text: string): Version {
  const number = '(0|[1-9]\\d*)'
  const part = '(?:0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*)'
  const shape = `^${number}\\.${number}\\.${number}(?:-(${part}(?:\\.${part})*))?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`
  const found = text.length <= 1_000 ? new RegExp(shape).exec(text) : null
  if (!found) throw new BuiltinError(`${JSON.stringify(text.slice(0, 60))} is not a valid SemVer`)
  const parts = found.slice(1, 4)
  if (parts.some((one) => one.length > 18))
    throw new RegoFailed('eval_unsupported', 'A version with numbers of more than 18 digits')
  return { parts: parts.map(BigInt), pre: found[4] ?? '' }
}

function compareVersions(left: string, right: string): number {
  const a = version(left)
  const b = version(right)
  for (const [i, part] of a.parts.entries()) {
    const other = b.parts[i] as bigint
    if (part !== other) return part < other ? -1 : 1
  }
  if (a.pre === b.pre) return 0
  if (a.pre === '' || b.pre === '') return a.pre === '' ? 1 : -1
  return comparePre(a.pre.split('.'), b.pre.split('.'))
}

function comparePre(a: string[], b: string[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i += 1) {
    const [x, y] = [a[i] as string, b[i] as string]
    if (x === y) continue
    const [nx, ny] = [/^\d+$/.test(x), /^\d+$/.test(y)]
    if (nx && ny) return BigInt(x) < BigInt(y) ? -1 : 1
    if (nx !== ny) return nx ? -1 : 1
    return x < y ? -1 : 1
  }
  return Math.sign(a.length - b.length)
}

function isVersion(value: Value): boolean {
  if (typeof value !== 'string') return false
  try {
    version(value)
    return true
  } catch (cause) {
    if (cause instanceof BuiltinError) return false
    throw cause
  }
}

// --- units ---------------------------------------------------------------------------------------------------------

const powers = 'kmgtpe'

/** The factor of a unit: [numerator, denominator]. */
function factor(unit: string, bytes: boolean): [bigint, bigint] | undefined {
  if (unit === '') return [1n, 1n]
  if (!bytes && unit === 'm') return [1n, 1000n]
  const letter = unit[0] as string
  const rest = unit.slice(1)
  const power = powers.indexOf(letter.toLowerCase()) + 1
  if (power === 0) return undefined
  if (rest === 'i' || (bytes && rest === 'ib')) return [1024n ** BigInt(power), 1n]
  return rest === '' || (bytes && rest === 'b') ? [1000n ** BigInt(power), 1n] : undefined
}

function units(text: string, bytes: boolean): Value {
  const plain = text.replaceAll('"', '')
  if (plain.includes(' ')) throw new BuiltinError('spaces not allowed in resource strings')
  const [, amount = '', power = '', name = ''] = /^([-\d.]*)((?<=\d)[eE][+-]?\d+)?(.*)$/s.exec(plain) ?? []
  if (amount === '') throw new BuiltinError('no amount provided')
  if (/^\d*(\.\d*){2,}$/.test(amount)) throw new BuiltinError('could not parse amount to a number')
  if (power.replace(/^[eE][+-]?/, '').length > 6) throw new BuiltinError('exponent too large')
  if (
    !/^-?(\d+(\.\d+)?|\.\d+)$/.test(amount) ||
    !/^[A-Za-z]*$/.test(name) ||
    Math.abs(Number(power.slice(1))) > 100
  )
    throw new RegoFailed('eval_unsupported', `The amount ${text.slice(0, 40)} is not known here`)
  const unit = bytes ? name.toLowerCase() : name.slice(0, 1) + name.slice(1).toLowerCase()
  const by = factor(unit, bytes)
  if (!by) throw new BuiltinError(`unit ${name} not recognized`)
  if (bytes) return bytesOf(amount + power, by[0], text)
  const [whole = '', fraction = ''] = amount.split('.')
  const shift = Number(power.slice(1)) - fraction.length
  const top = BigInt(whole + fraction) * by[0] * 10n ** BigInt(Math.max(0, shift))
  const bottom = by[1] * 10n ** BigInt(Math.max(0, -shift))
  if (top % bottom === 0n && (unit !== 'm' || top === 0n)) return integerOf(top / bottom)
  // OPA writes such amounts with ten decimals; a thousandth is a float there, which large amounts would show.
  const scaled = (top * 10n ** 10n) / bottom
  if ((top * 10n ** 10n) % bottom !== 0n || scaled > 10n ** 16n || scaled < -(10n ** 16n))
    throw new RegoFailed('eval_unsupported', `The amount ${text.slice(0, 40)} has too many decimals`)
  const digits = `${scaled < 0n ? -scaled : scaled}`.padStart(11, '0')
  return parseNumber(`${scaled < 0n ? '-' : ''}${digits.slice(0, -10)}.${digits.slice(-10)}`) as RegoNumber
}

/** Whole bytes, worked out in floating point as OPA does and cut towards zero. */
function bytesOf(amount: string, factor: bigint, text: string): Value {
  const number = parseNumber(amount.startsWith('.') ? `0${amount}` : amount)
  const whole = number && wholePart(multiply(number, integerOf(factor)))
  if (whole === undefined || whole > maxNs || whole < -maxNs) {
    if (whole !== undefined && /^\d+$/.test(amount) && whole < 2n ** 64n) return integerOf(whole)
    throw new RegoFailed('eval_unsupported', `The amount ${text.slice(0, 40)} is not known here`)
  }
  return integerOf(whole)
}

// --- time ----------------------------------------------------------------------------------------------------------

const maxNs = 2n ** 63n

function inRange(ns: bigint): RegoNumber {
  if (ns < -maxNs || ns >= maxNs) throw new BuiltinError('time outside of valid range')
  return integerOf(ns)
}

function parseRfc3339(text: string): Value {
  const found = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)([.,]\d+)?(Z|[+-]\d\d:\d\d)$/.exec(text)
  if (!found && /^\d{4}-\d\d-\d\dT\d:/.test(text))
    throw new RegoFailed('eval_unsupported', 'A time with one digit for the hour is not known here')
  if (!found) throw new BuiltinError(`${text.slice(0, 60)} is no RFC 3339 time`)
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const base = new Date(0)
  base.setUTCFullYear(year, month - 1, day)
  const real = base.getUTCMonth() === month - 1 && base.getUTCDate() === day
  if (!real || hour > 23 || minute > 59 || second > 59)
    throw new BuiltinError(`${text.slice(0, 60)} is out of range`)
  const zone = found[8] as string
  const [zoneHours = 0, zoneMinutes = 0] = zone === 'Z' ? [] : zone.slice(1).split(':').map(Number)
  if (zoneHours > 23 || zoneMinutes > 59)
    throw new RegoFailed('eval_unsupported', `The offset ${zone} is not known here`)
  const offset = (zone.startsWith('-') ? -1 : 1) * (zoneHours * 60 + zoneMinutes)
  const seconds = BigInt(base.getTime() / 1000 + hour * 3600 + (minute - offset) * 60 + second)
  const fraction = BigInt((found[7] ?? '').slice(1, 10).padEnd(9, '0'))
  return inRange(seconds * 1_000_000_000n + fraction)
}

const durations: Record<string, bigint> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
}

function parseDuration(text: string): Value {
  const body = text.replace(/^[+-]/, '')
  if (body === '0') return numberOf(0)
  if (!/^((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/.test(body))
    throw new BuiltinError(`invalid duration ${text.slice(0, 60)}`)
  let total = 0n
  for (const [, amount = '', unit = ''] of body.matchAll(/([\d.]+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    const [whole = '', fraction = ''] = amount.split('.')
    const scale = durations[unit] as bigint
    // Go works such a part out in floating point, which more decimals would show.
    if (fraction.length > 3 && scale % 10n ** BigInt(Math.min(20, fraction.length)) !== 0n)
      throw new RegoFailed('eval_unsupported', 'A duration with so many decimals is not known here')
    total += BigInt(whole || '0') * scale + (BigInt(fraction || '0') * scale) / 10n ** BigInt(fraction.length)
  }
  return inRange(text.startsWith('-') ? -total : total)
}

/** A moment as [seconds, nanoseconds of the second]; only UTC is known. */
function moment(value: Value): Date {
  let ns = value
  if (isArray(value)) {
    if (value.length !== 2)
      throw new RegoFailed('eval_unsupported', 'A time is a number, or a number and "UTC", here')
    const [number, zone] = value as [Value, Value]
    if (zone !== 'UTC' && zone !== '')
      throw new RegoFailed('eval_unsupported', 'Time zones other than UTC are not known here')
    ns = number
  }
  const whole = ns !== null && typeof ns === 'object' && 'text' in ns ? asInteger(ns) : undefined
  if (whole === undefined)
    throw new BuiltinError('operand 1 must be a whole number of nanoseconds', 'eval_type_error')
  inRange(whole)
  const ms = whole >= 0n ? whole / 1_000_000n : (whole - 999_999n) / 1_000_000n
  return new Date(Number(ms))
}

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

function addDate(ns: Value, years: RegoNumber, months: RegoNumber, days: RegoNumber): Value {
  if (!(ns instanceof RegoNumber))
    throw new RegoFailed('eval_unsupported', 'time.add_date with a zone is not known here')
  const date = moment(ns)
  const before = date.getTime()
  const [y, m, d] = [integerOperand(years, 2), integerOperand(months, 3), integerOperand(days, 4)]
  const whole = asInteger(ns) as bigint
  date.setUTCFullYear(date.getUTCFullYear() + y, date.getUTCMonth() + m, date.getUTCDate() + d)
  if (Number.isNaN(date.getTime())) throw new BuiltinError('time outside of valid range')
  return inRange(whole + BigInt(date.getTime() - before) * 1_000_000n)
}

export const scalarBuiltins: Builtin[] = [
  builtin('semver.compare', ['s', 's'], 'n', (_, a: string, b: string) => numberOf(compareVersions(a, b))),
  builtin('semver.is_valid', ['*'], 'b', (_, value: Value) => isVersion(value)),
  builtin('units.parse', ['s'], 'n', (_, text: string) => units(text, false)),
  builtin('units.parse_bytes', ['s'], 'n', (_, text: string) => units(text, true)),
  builtin('time.now_ns', [], 'n', ({ now }) => integerOf(BigInt(Math.trunc(now)) * 1_000_000n)),
  builtin('time.parse_rfc3339_ns', ['s'], 'n', (_, text: string) => parseRfc3339(text)),
  builtin('time.parse_duration_ns', ['s'], 'n', (_, text: string) => parseDuration(text)),
  builtin('time.date', ['na'], 'a', (_, value: Value) => {
    const at = moment(value)
    return [at.getUTCFullYear(), at.getUTCMonth() + 1, at.getUTCDate()].map(numberOf)
  }),
  builtin('time.clock', ['na'], 'a', (_, value: Value) => {
    const at = moment(value)
    return [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()].map(numberOf)
  }),
  builtin('time.weekday', ['na'], 's', (_, value: Value) => weekdays[moment(value).getUTCDay()]),
  builtin(
    'time.add_date',
    ['na', 'n', 'n', 'n'],
    'n',
    (_, ns: Value, y: RegoNumber, m: RegoNumber, d: RegoNumber) => addDate(ns, y, m, d),
  ),
]
