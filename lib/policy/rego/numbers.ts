/*
 * Numbers as OPA has them. A number keeps the text it was written with; equality and order compare exact decimals, so
 * 1, 1.0 and 1e0 are one value. Integers of any size add, subtract and multiply exactly. Everything else is worked out
 * in binary floating point with a 64-bit mantissa, rounded to nearest even, which is what Go's big.Float does with the
 * precision OPA leaves at its default; results are printed with the fewest digits that read back to the same float.
 */
import { BuiltinError, RegoFailed } from './refusal'

/** Decimal exponents beyond this are not worked with: 10^5000 is past anything a policy counts. */
const maxExponent = 5_000
const maxDigits = 10_000

/** mantissa × 10^exponent, exact. */
interface Decimal {
  mantissa: bigint
  exponent: number
}

const shape = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** A number with the text it was written with. Make it with `numberOf`, `integerOf` or `parseNumber`. */
export class RegoNumber {
  #decimal: Decimal | undefined
  #key: string | undefined

  constructor(
    readonly text: string,
    /** The value itself, when the text is that of a safe integer. */
    readonly small: number | undefined,
  ) {}

  get decimal(): Decimal {
    this.#decimal ??= decimalOf(this.text)
    return this.#decimal
  }

  /** One text per value: equal numbers have equal keys. */
  get key(): string {
    if (this.#key === undefined) {
      const { mantissa, exponent } = this.decimal
      const plain = exponent >= 0 && exponent < 400
      this.#key = plain ? `${mantissa * 10n ** BigInt(exponent)}` : `${mantissa}e${exponent}`
    }
    return this.#key
  }
}

function decimalOf(text: string): Decimal {
  const [, sign, whole = '', fraction = '', power] = shape.exec(text) ?? []
  let exponent = (power === undefined ? 0 : Number(power)) - fraction.length
  let digits = (whole + fraction).replace(/^0+(?=\d)/, '')
  if (digits === '0') return { mantissa: 0n, exponent: 0 }
  const kept = digits.replace(/0+$/, '')
  exponent += digits.length - kept.length
  digits = kept
  return { mantissa: BigInt(`${sign}${digits}`), exponent }
}

/** The number that this text says (JSON's grammar), or undefined when it says none or one out of all bounds. */
export function parseNumber(text: string): RegoNumber | undefined {
  const found = text.length <= maxDigits ? shape.exec(text) : null
  if (!found || /^-?0\d/.test(text)) return undefined
  if (found[4] !== undefined && Math.abs(Number(found[4])) > maxExponent) return undefined
  const small = /^(0|-?[1-9]\d{0,15})$/.test(text) ? Number(text) : undefined
  return new RegoNumber(text, small !== undefined && Number.isSafeInteger(small) ? small : undefined)
}

const smallOnes = Array.from({ length: 1024 }, (_, i) => new RegoNumber(`${i}`, i))

/** A JavaScript number as a Rego number; throws RegoFailed for NaN and infinities. */
export function numberOf(value: number): RegoNumber {
  if (Number.isSafeInteger(value)) {
    if (Object.is(value, -0)) return new RegoNumber('-0', undefined)
    return (value >= 0 && smallOnes[value]) || new RegoNumber(`${value}`, value)
  }
  if (!Number.isFinite(value))
    throw new RegoFailed('eval_unsupported', `${value} is not a number JSON can say`)
  return parseNumber(String(value)) as RegoNumber
}

/** An integer of any size as a Rego number. */
export function integerOf(value: bigint): RegoNumber {
  const small = Number(value)
  if (Number.isSafeInteger(small)) return numberOf(small)
  const text = `${value}`
  if (text.length > maxDigits)
    throw new RegoFailed('eval_bound', `A number has more than ${maxDigits} digits`)
  return new RegoNumber(text, undefined)
}

/** Order by exact value. */
export function compareNumbers(a: RegoNumber, b: RegoNumber): number {
  if (a.small !== undefined && b.small !== undefined) return Math.sign(a.small - b.small)
  const x = a.decimal
  const y = b.decimal
  const low = Math.min(x.exponent, y.exponent)
  const left = x.mantissa * 10n ** BigInt(x.exponent - low)
  const right = y.mantissa * 10n ** BigInt(y.exponent - low)
  return left < right ? -1 : left > right ? 1 : 0
}

/** The integer a number is, whatever its spelling (`1.0`, `1e3`), or undefined for a fraction. */
export function asInteger(number: RegoNumber): bigint | undefined {
  if (number.small !== undefined) return BigInt(number.small)
  const { mantissa, exponent } = number.decimal
  if (exponent < 0) return undefined
  return mantissa * 10n ** BigInt(exponent)
}

/** True when the text is digits alone, as Go's integer parsers take it. */
export function isPlain(number: RegoNumber): boolean {
  return /^-?\d+$/.test(number.text)
}

// --- floating point with a 64-bit mantissa -------------------------------------------------------------------------

/** sign × mantissa × 2^exponent; the mantissa has exactly 64 bits, or is 0. */
interface Float {
  negative: boolean
  mantissa: bigint
  exponent: number
}

const bits = 64

function bitLength(n: bigint): number {
  return n === 0n ? 0 : n.toString(2).length
}

/** The float nearest to ±numerator/denominator × 2^shift, ties to even. */
function rounded(
  negative: boolean,
  numerator: bigint,
  denominator: bigint,
  shift: number,
  width = bits,
): Float {
  if (numerator === 0n) return { negative, mantissa: 0n, exponent: 0 }
  const extra = width + 2 - (bitLength(numerator) - bitLength(denominator))
  const scaled = extra > 0 ? numerator << BigInt(extra) : numerator
  const divisor = extra < 0 ? denominator << BigInt(-extra) : denominator
  let quotient = scaled / divisor
  const sticky = scaled % divisor !== 0n
  let exponent = shift - extra
  const surplus = bitLength(quotient) - width
  const cut = BigInt(surplus)
  const rest = quotient & ((1n << cut) - 1n)
  const half = 1n << (cut - 1n)
  quotient >>= cut
  exponent += surplus
  if (rest > half || (rest === half && (sticky || (quotient & 1n) === 1n))) quotient += 1n
  if (bitLength(quotient) > width) {
    quotient >>= 1n
    exponent += 1
  }
  return { negative, mantissa: quotient, exponent }
}

/** 5^n as Go's big.Float works it out for a decimal exponent: 128 bits, rounded at each multiplication. */
function powerOfFive(n: number): Float {
  const width = 128
  const wide = 192
  const multiply = (a: Float, b: Float, w: number) =>
    rounded(false, a.mantissa * b.mantissa, 1n, a.exponent + b.exponent, w)
  if (n <= 27) return rounded(false, 5n ** BigInt(n), 1n, 0, width)
  let z = rounded(false, 5n ** 27n, 1n, 0, width)
  let f = rounded(false, 5n, 1n, 0, wide)
  for (let left = n - 27; left > 0; left >>= 1) {
    if (left & 1) z = multiply(z, f, width)
    f = multiply(f, f, wide)
  }
  return z
}

function toFloat(number: RegoNumber): Float {
  const [, sign, whole = '', fraction = '', power] = shape.exec(number.text) ?? []
  const negative = sign === '-'
  const mantissa = BigInt(whole + fraction)
  const five = (power === undefined ? 0 : Number(power)) - fraction.length
  if (mantissa === 0n) return { negative, mantissa: 0n, exponent: 0 }
  if (five === 0) return rounded(negative, mantissa, 1n, 0)
  const p = powerOfFive(Math.abs(five))
  return five > 0
    ? rounded(negative, mantissa * p.mantissa, 1n, five + p.exponent)
    : rounded(negative, mantissa, p.mantissa, five - p.exponent)
}

function addFloats(a: Float, b: Float): Float {
  if (a.mantissa === 0n && b.mantissa === 0n)
    return { negative: a.negative && b.negative, mantissa: 0n, exponent: 0 }
  if (Math.abs(a.exponent - b.exponent) > 40_000)
    throw new RegoFailed('eval_bound', 'Two numbers are too far apart to add')
  const low = Math.min(a.exponent, b.exponent)
  const signed = (f: Float) =>
    (f.negative ? -1n : 1n) * (f.mantissa << BigInt(f.mantissa === 0n ? 0 : f.exponent - low))
  const sum = signed(a) + signed(b)
  return rounded(sum < 0n, sum < 0n ? -sum : sum, 1n, low)
}

/** The whole part and whether anything was cut off. */
function truncated(f: Float): { whole: bigint; exact: boolean } {
  if (f.exponent >= 0) return { whole: f.mantissa << BigInt(f.exponent), exact: true }
  const cut = BigInt(-f.exponent)
  const whole = f.mantissa >> cut
  return { whole, exact: whole << cut === f.mantissa }
}

/** The fewest decimal digits d1d2… and point position that read back to the same float: 0.d1d2… × 10^point. */
function shortest(f: Float): { digits: string; point: number } {
  // One more bit than the mantissa has, so that its neighbours' midpoints are ±1.
  const m = f.mantissa << 1n
  const e = f.exponent - 1
  const inclusive = (f.mantissa & 1n) === 0n
  const up = e >= 0 ? 1n << BigInt(e) : 1n
  const scale = e >= 0 ? 1n : 1n << BigInt(-e)
  // value = m·up/scale; find the point: 10^(point-1) <= value < 10^point
  const value = m * up
  let point = `${value / scale}`.length
  if (value < scale) {
    point = 1 - `${scale / value}`.length
    while (value * ten(-point) >= scale) point += 1
    while (value * ten(1 - point) < scale) point -= 1
  }
  for (let n = 1; ; n += 1) {
    // candidates are k × 10^(point - n)
    const power = point - n
    const top = power < 0 ? value * ten(-power) : value
    const bottom = power < 0 ? scale : scale * ten(power)
    const k = top / bottom
    const rest = top % bottom
    if (rest === 0n) return finish(k, point, n)
    const margin = up * (power < 0 ? ten(-power) : 1n)
    const down = rest < margin || (inclusive && rest === margin)
    const gap = bottom - rest
    const above = gap < margin || (inclusive && gap === margin)
    if (down && above)
      return finish(rest * 2n > bottom || (rest * 2n === bottom && k & 1n) ? k + 1n : k, point, n)
    if (down) return finish(k, point, n)
    if (above) return finish(k + 1n, point, n)
  }
}

function ten(power: number): bigint {
  return 10n ** BigInt(power)
}

function finish(k: bigint, point: number, n: number): { digits: string; point: number } {
  const text = `${k}`
  return { digits: text.replace(/0+$/, ''), point: point + text.length - n }
}

/** A float's text: whole numbers in full, others as Go's %g with the fewest digits. */
function floatText(f: Float): string {
  const sign = f.negative ? '-' : ''
  if (f.mantissa === 0n) return `${sign}0`
  const { digits, point } = shortest(f)
  if (truncated(f).exact) return `${sign}${digits.padEnd(point, '0')}`
  const power = point - 1
  if (power < -4 || power >= 6) return sign + scientific(digits, power)
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}

function scientific(digits: string, power: number): string {
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : ''
  const size = `${Math.abs(power)}`.padStart(2, '0')
  return `${digits[0]}${fraction}e${power < 0 ? '-' : '+'}${size}`
}

function fromFloat(f: Float): RegoNumber {
  const parsed = Math.abs(f.exponent) > 20_000 ? undefined : parseNumber(floatText(f))
  if (!parsed) throw new RegoFailed('eval_bound', 'A number grew out of all bounds')
  return parsed
}

// --- arithmetic ----------------------------------------------------------------------------------------------------

/** Both as integers, when both are. */
function integers(a: RegoNumber, b: RegoNumber): [bigint, bigint] | undefined {
  const x = asInteger(a)
  const y = x === undefined ? undefined : asInteger(b)
  return x === undefined || y === undefined ? undefined : [x, y]
}

export function add(a: RegoNumber, b: RegoNumber): RegoNumber {
  const whole = integers(a, b)
  return whole ? integerOf(whole[0] + whole[1]) : fromFloat(addFloats(toFloat(a), toFloat(b)))
}

export function subtract(a: RegoNumber, b: RegoNumber): RegoNumber {
  const whole = integers(a, b)
  if (whole) return integerOf(whole[0] - whole[1])
  const right = toFloat(b)
  return fromFloat(addFloats(toFloat(a), { ...right, negative: !right.negative }))
}

export function multiply(a: RegoNumber, b: RegoNumber): RegoNumber {
  const whole = integers(a, b)
  if (whole) return integerOf(whole[0] * whole[1])
  const x = toFloat(a)
  const y = toFloat(b)
  return fromFloat(rounded(x.negative !== y.negative, x.mantissa * y.mantissa, 1n, x.exponent + y.exponent))
}

/** Throws BuiltinError for a zero divisor. */
export function divide(a: RegoNumber, b: RegoNumber): RegoNumber {
  const x = toFloat(a)
  const y = toFloat(b)
  if (y.mantissa === 0n) throw new BuiltinError('divide by zero')
  if (a.small !== undefined && b.small !== undefined && a.small !== 0 && a.small % b.small === 0)
    return numberOf(a.small / b.small)
  return fromFloat(rounded(x.negative !== y.negative, x.mantissa, y.mantissa, x.exponent - y.exponent))
}

/** Throws BuiltinError for a zero divisor and for fractions. The result has the dividend's sign. */
export function remainder(a: RegoNumber, b: RegoNumber): RegoNumber {
  const whole = integers(a, b)
  if (!whole) throw new BuiltinError('modulo on floating-point number')
  if (whole[1] === 0n) throw new BuiltinError('modulo by zero')
  return integerOf(whole[0] % whole[1])
}

export function absolute(a: RegoNumber): RegoNumber {
  if (a.small !== undefined) return numberOf(Math.abs(a.small))
  return fromFloat({ ...toFloat(a), negative: false })
}

/** Half away from zero. */
export function round(a: RegoNumber): RegoNumber {
  if (a.small !== undefined) return a
  const f = toFloat(a)
  const half: Float = { negative: f.negative, mantissa: 1n << 63n, exponent: -64 }
  return wholeOf(addFloats(f, half), 0n)
}

export function ceil(a: RegoNumber): RegoNumber {
  if (a.small !== undefined) return a
  const f = toFloat(a)
  return wholeOf(f, truncated(f).exact || f.negative ? 0n : 1n)
}

export function floor(a: RegoNumber): RegoNumber {
  if (a.small !== undefined) return a
  const f = toFloat(a)
  return wholeOf(f, truncated(f).exact || !f.negative ? 0n : 1n)
}

function wholeOf(f: Float, away: bigint): RegoNumber {
  const { whole } = truncated(f)
  return integerOf((f.negative ? -1n : 1n) * (whole + away))
}

/** The whole part of the number as a 64-bit float has it, cut towards zero: what OPA's format_int prints. */
export function wholePart(a: RegoNumber): bigint {
  if (a.small !== undefined) return BigInt(a.small)
  const f = toFloat(a)
  return (f.negative ? -1n : 1n) * truncated(f).whole
}

/** All added up in order: exact when all are integers, in floating point otherwise. */
export function sumOf(numbers: readonly RegoNumber[]): RegoNumber {
  const whole = numbers.map(asInteger)
  if (whole.every((one) => one !== undefined)) return integerOf(whole.reduce((sum, one) => sum + one, 0n))
  const zero: Float = { negative: false, mantissa: 0n, exponent: 0 }
  return fromFloat(numbers.map(toFloat).reduce(addFloats, zero))
}

/** All multiplied in order: exact when all are integers, otherwise in 53 bits, which is where OPA starts from. */
export function productOf(numbers: readonly RegoNumber[]): RegoNumber {
  const whole = numbers.map(asInteger)
  if (whole.every((one) => one !== undefined))
    return whole.map((one) => integerOf(one)).reduce(multiply, numberOf(1))
  const one: Float = { negative: false, mantissa: 1n << 52n, exponent: -52 }
  return fromFloat(
    numbers
      .map(toFloat)
      .reduce(
        (x, y) =>
          rounded(x.negative !== y.negative, x.mantissa * y.mantissa, 1n, x.exponent + y.exponent, 53),
        one,
      ),
  )
}
