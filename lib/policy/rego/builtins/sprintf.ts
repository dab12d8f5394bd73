/*
 * sprintf as Go's fmt does it for what OPA hands over: whole numbers as integers, other numbers as 64-bit floats,
 * texts as texts, and everything else as the text of the term. Verbs taken: %v %d %s %q %x %X %o %b %c %t %e %f %g %%
 * with flags, width and precision where Go's meaning is plain. Others are refused.
 */
import type { Term } from '../ast'
import { RegoNumber } from '../numbers'
import { type Place, RegoFailed } from '../refusal'
import { isArray, RegoSet, type Value } from '../values'

interface Verb {
  flags: string
  width: number | undefined
  precision: number | undefined
  letter: string
}

type Operand =
  | { kind: 'int'; value: bigint; big: boolean }
  | { kind: 'float'; value: number }
  | { kind: 'text'; value: string }

const verbAt = /%([-+# 0]*)(\d+)?(\.(\d*))?([\s\S])?/uy
const known = 'vdsqxXobtefg%'

/** A text as Go's strconv.Quote writes it. */
export function quoted(text: string): string {
  const short: Record<string, string> = {
    '\x07': '\\a',
    '\b': '\\b',
    '\f': '\\f',
    '\n': '\\n',
    '\r': '\\r',
    '\t': '\\t',
    '\v': '\\v',
    '\\': '\\\\',
    '"': '\\"',
  }
  const inner = [...text].map((rune) => {
    const known = short[rune]
    if (known) return known
    if (rune === ' ' || /[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(rune)) return rune
    const code = rune.codePointAt(0) as number
    if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`
    return code > 0xffff
      ? `\\U${code.toString(16).padStart(8, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`
  })
  return `"${inner.join('')}"`
}

/** A value as OPA prints a term. */
export function termText(value: Value): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (value instanceof RegoNumber) return value.text
  if (typeof value === 'string') return quoted(value)
  if (isArray(value)) return `[${value.map(termText).join(', ')}]`
  if (value instanceof RegoSet)
    return value.size === 0 ? 'set()' : `{${value.sorted.map(termText).join(', ')}}`
  return `{${value.sorted.map(([key, item]) => `${termText(key)}: ${termText(item)}`).join(', ')}}`
}

function operandOf(value: Value): Operand {
  if (!(value instanceof RegoNumber))
    return { kind: 'text', value: typeof value === 'string' ? value : termText(value) }
  if (/^-?\d+$/.test(value.text)) {
    const whole = BigInt(value.text)
    return { kind: 'int', value: whole, big: whole !== BigInt.asIntN(64, whole) }
  }
  return { kind: 'float', value: Number(value.text) }
}

/** The formatted text. Throws RegoFailed for a verb that is not known here. */
export function sprintf(format: string, values: readonly Value[]): string {
  let out = ''
  let next = 0
  let end = 0
  for (let at = format.indexOf('%'); at >= 0; at = format.indexOf('%', end)) {
    out += format.slice(end, at)
    verbAt.lastIndex = at
    const found = verbAt.exec(format) as RegExpExecArray
    end = at + found[0].length
    if (found[5] === undefined) {
      out += '%!(NOVERB)'
      break
    }
    const verb: Verb = {
      flags: found[1] ?? '',
      width: found[2] === undefined ? undefined : Number(found[2]),
      precision: found[3] === undefined ? undefined : Number(found[4] || 0),
      letter: found[5],
    }
    if (verb.letter === '%') {
      out += '%'
      continue
    }
    refuseUnknown(verb)
    const value = values[next]
    next += 1
    out += value === undefined ? `%!${verb.letter}(MISSING)` : formatted(verb, operandOf(value))
    if (out.length > 10_000_000)
      throw new RegoFailed('eval_bound', 'sprintf made a text of more than 10,000,000 characters')
  }
  out += format.slice(end)
  if (next < values.length) {
    const extra = values.slice(next).map((value) => typed(operandOf(value)))
    out += `%!(EXTRA ${extra.join(', ')})`
  }
  return out
}

function refuseUnknown(verb: Verb): void {
  const bare = `%${verb.flags}${verb.width ?? ''}${verb.precision === undefined ? '' : `.${verb.precision}`}${verb.letter}`
  if (problemOf(verb)) throw new RegoFailed('eval_unsupported', `sprintf with ${bare} is not known here`)
}

function problemOf(verb: Verb): boolean {
  return (
    !known.includes(verb.letter) ||
    (verb.width ?? 0) > 1_000 ||
    (verb.precision ?? 0) > 100 ||
    verb.flags.includes('#')
  )
}

/** Looks at a format that is written as a constant. */
export function checkFormat(args: Term[], refuse: (message: string, place: Place) => void): void {
  const format = args[0]
  if (format?.kind !== 'scalar' || typeof format.value !== 'string') return
  for (const found of format.value.matchAll(/%([-+# 0]*)(\d+)?(\.(\d*))?([\s\S])?/gu)) {
    const letter = found[5]
    if (letter === undefined) continue
    const verb = {
      flags: found[1] ?? '',
      width: Number(found[2] ?? 0),
      precision: Number(found[4] || 0),
      letter,
    }
    if (problemOf(verb)) refuse(`sprintf with ${found[0]} is not known here`, format.at)
  }
}

const goTypes = { int: 'int', float: 'float64', text: 'string' }

function typed(operand: Operand): string {
  const type = operand.kind === 'int' && operand.big ? '*big.Int' : goTypes[operand.kind]
  return `${type}=${plain(operand)}`
}

function plain(operand: Operand): string {
  if (operand.kind === 'float') return general(operand.value)
  return String(operand.value)
}

function formatted(verb: Verb, operand: Operand): string {
  if (operand.kind === 'int') return formatInteger(verb, operand.value) ?? bad(verb, operand)
  if (operand.kind === 'float') return formatFloat(verb, operand.value) ?? bad(verb, operand)
  return formatText(verb, operand.value) ?? bad(verb, operand)
}

function bad(verb: Verb, operand: Operand): string {
  if (verb.flags !== '' || verb.width !== undefined || verb.precision !== undefined)
    throw new RegoFailed(
      'eval_unsupported',
      `sprintf with flags and a verb %${verb.letter} that does not fit is not known here`,
    )
  if (operand.kind === 'int' && operand.big) return `%!${verb.letter}(big.Int=${plain(operand)})`
  return `%!${verb.letter}(${typed(operand)})`
}

function padded(verb: Verb, text: string, numeric: boolean): string {
  const width = verb.width ?? 0
  const missing = width - [...text].length
  if (missing <= 0) return text
  if (verb.flags.includes('-')) return text + ' '.repeat(missing)
  if (!verb.flags.includes('0')) return ' '.repeat(missing) + text
  if (!numeric) return '0'.repeat(missing) + text
  const sign = /^[-+ ]/.test(text) ? (text[0] as string) : ''
  return sign + '0'.repeat(missing) + text.slice(sign.length)
}

function signed(verb: Verb, negative: boolean, digits: string): string {
  const sign = negative ? '-' : verb.flags.includes('+') ? '+' : verb.flags.includes(' ') ? ' ' : ''
  return sign + digits
}

function formatInteger(verb: Verb, value: bigint): string | undefined {
  if (verb.letter === 'q')
    throw new RegoFailed('eval_unsupported', 'sprintf of a number with %q is not known here')
  const big = value !== BigInt.asIntN(64, value)
  const radix = { v: 10, d: 10, x: 16, X: 16, o: 8, b: 2, s: big ? 10 : undefined }[verb.letter]
  if (radix === undefined) return undefined
  if (verb.precision !== undefined)
    throw new RegoFailed('eval_unsupported', 'sprintf of an integer with a precision is not known here')
  let digits = (value < 0n ? -value : value).toString(radix)
  if (verb.letter === 'X') digits = digits.toUpperCase()
  return padded(verb, signed(verb, value < 0n, digits), true)
}

function formatFloat(verb: Verb, value: number): string | undefined {
  const size = Math.abs(value)
  const negative = value < 0 || Object.is(value, -0)
  let digits: string
  if (verb.letter === 'f') digits = fixed(size, verb.precision ?? 6)
  else if (verb.letter === 'e') digits = exponential(size, verb.precision ?? 6)
  else if ((verb.letter === 'v' || verb.letter === 'g') && verb.precision === undefined)
    digits = general(size)
  else if (
    verb.letter === 'v' ||
    verb.letter === 'g' ||
    verb.letter === 'b' ||
    verb.letter === 'x' ||
    verb.letter === 'X'
  )
    throw new RegoFailed('eval_unsupported', `sprintf of a fraction with %${verb.letter} is not known here`)
  else return undefined
  return padded(verb, signed(verb, negative, digits), true)
}

/** Digits after the point, correctly rounded: worked out on the float's exact value. */
function fixed(size: number, precision: number): string {
  if (size < 1e21) return size.toFixed(precision)
  const whole = BigInt(size).toString()
  return precision > 0 ? `${whole}.${'0'.repeat(precision)}` : whole
}

function exponential(size: number, precision: number): string {
  return size.toExponential(precision).replace(/e([+-])(\d)$/, 'e$10$2')
}

/** Go's %v and %g without a precision: the fewest digits, with an exponent from 1e+06 on and below 1e-04. */
function general(value: number): string {
  const negative = value < 0 ? '-' : ''
  const size = Math.abs(value)
  if (size === 0) return `${negative}0`
  const [digits = '', power = '0'] = size.toExponential().split('e')
  const exponent = Number(power)
  if (exponent < -4 || exponent >= 6)
    return `${negative}${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
  const plainDigits = digits.replace('.', '')
  if (exponent < 0) return `${negative}0.${'0'.repeat(-exponent - 1)}${plainDigits}`
  if (plainDigits.length <= exponent + 1) return negative + plainDigits.padEnd(exponent + 1, '0')
  return `${negative}${plainDigits.slice(0, exponent + 1)}.${plainDigits.slice(exponent + 1)}`
}

function formatText(verb: Verb, text: string): string | undefined {
  if (/[^-]/.test(verb.flags))
    throw new RegoFailed('eval_unsupported', 'sprintf of a text with flags is not known here')
  const cut = verb.precision === undefined ? text : [...text].slice(0, verb.precision).join('')
  if (verb.letter === 'v' || verb.letter === 's') return padded(verb, cut, false)
  if (verb.letter === 'q') {
    return padded(verb, quoted(cut), false)
  }
  if (verb.letter === 'x' || verb.letter === 'X') {
    if (verb.flags !== '' || verb.width !== undefined || verb.precision !== undefined)
      throw new RegoFailed('eval_unsupported', 'sprintf of a text with %x and flags is not known here')
    const hex = [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
    return verb.letter === 'X' ? hex.toUpperCase() : hex
  }
  return undefined
}
