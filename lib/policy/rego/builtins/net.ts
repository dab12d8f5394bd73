/** Addresses and blocks of them (CIDR), with the exact strictness of Go's net package for what is an address. */
import ipaddr from 'ipaddr.js'
import { numberOf } from '../numbers'
import { BuiltinError, RegoFailed } from '../refusal'
import { isArray, RegoObject, RegoSet, type Value } from '../values'
import { type Builtin, builtin, type CallContext } from './builtin'

interface Block {
  /** 32 or 128. */
  bits: number
  first: bigint
  last: bigint
  prefix: number
}

/** The address as a number, or undefined for what Go takes for none. IPv4 in IPv6 counts as IPv4, as in Go. */
function address(text: string): { bits: number; value: bigint; v6: boolean } | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) {
    if (/(^|\.)0\d/.test(text)) return undefined
    return { bits: 32, value: numberFrom(ipaddr.IPv4.parse(text).toByteArray()), v6: false }
  }
  if (!text.includes(':') || text.includes('%') || !/^[0-9a-fA-F:.]+$/.test(text)) return undefined
  if (
    /(^|:)[0-9a-fA-F]{5,}/.test(text) ||
    /[:.]0\d*\./.test(text.replace(/[:.]0\./g, ':1.')) ||
    !ipaddr.IPv6.isValid(text)
  )
    return undefined
  const parsed = ipaddr.IPv6.parse(text)
  if (parsed.isIPv4MappedAddress())
    return { bits: 32, value: numberFrom(parsed.toIPv4Address().toByteArray()), v6: true }
  return { bits: 128, value: numberFrom(parsed.toByteArray()), v6: true }
}

function numberFrom(bytes: number[]): bigint {
  return bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
}

function bytesOf(value: bigint, bits: number): number[] {
  return Array.from({ length: bits / 8 }, (_, i) => Number((value >> BigInt(bits - 8 * (i + 1))) & 255n))
}

function blockAt(value: bigint, bits: number, prefix: number): Block {
  const host = BigInt(bits - prefix)
  const first = (value >> host) << host
  return { bits, prefix, first, last: first | ((1n << host) - 1n) }
}

function parsedBlock(text: string): Block | undefined {
  const at = text.indexOf('/')
  if (at < 0 || !/^\d{1,3}$/.test(text.slice(at + 1)) || /^0\d/.test(text.slice(at + 1))) return undefined
  const base = address(text.slice(0, at))
  const prefix = Number(text.slice(at + 1))
  if (!base) return undefined
  if (base.v6 && base.bits === 32)
    throw new RegoFailed('eval_unsupported', 'A block of IPv4 addresses written as IPv6 is not known here')
  return prefix <= base.bits ? blockAt(base.value, base.bits, prefix) : undefined
}

function block(text: string): Block {
  const found = parsedBlock(text)
  if (!found) throw new BuiltinError(`invalid CIDR address: ${text.slice(0, 60)}`)
  return found
}

function contains(outer: Value, inner: Value): boolean {
  if (typeof outer !== 'string' || typeof inner !== 'string')
    throw new BuiltinError('operand must be string', 'eval_type_error')
  const whole = block(outer)
  const single = address(inner)
  if (single) return single.bits === whole.bits && single.value >= whole.first && single.value <= whole.last
  const part = block(inner)
  return part.bits === whole.bits && part.first >= whole.first && part.last <= whole.last
}

function intersects(left: string, right: string): boolean {
  const a = block(left)
  const b = block(right)
  return a.bits === b.bits && a.first <= b.last && b.first <= a.last
}

function addressText(value: bigint, bits: number): string {
  const bytes = bytesOf(value, bits)
  if (bits === 32) return bytes.join('.')
  const address = new ipaddr.IPv6(bytes)
  if (address.isIPv4MappedAddress())
    throw new RegoFailed('eval_unsupported', 'IPv4 addresses written as IPv6 are not known here')
  return address.toRFC5952String()
}

function expand(text: string, { meter }: CallContext): Value {
  const whole = block(text)
  const size = whole.last - whole.first + 1n
  if (size > 100_000n) throw new RegoFailed('eval_bound', 'A block of more than 100,000 addresses to expand')
  meter.keep(Number(size) * 8)
  return RegoSet.of(
    Array.from({ length: Number(size) }, (_, i) => addressText(whole.first + BigInt(i), whole.bits)),
  )
}

function* candidates(value: Value): Iterable<[Value, Value]> {
  const cidrOf = (item: Value): Value => {
    if (typeof item === 'string') return item
    if (isArray(item) && item.length > 0) return item[0] as Value
    throw new BuiltinError('element must be string or non-empty array')
  }
  if (typeof value === 'string') yield [value, value]
  else if (isArray(value)) for (const [i, item] of value.entries()) yield [cidrOf(item), numberOf(i)]
  else if (value instanceof RegoSet) for (const item of value.sorted) yield [cidrOf(item), item]
  else if (value instanceof RegoObject) for (const [key, item] of value.sorted) yield [cidrOf(item), key]
}

function matches(cidrs: Value, parts: Value): Value {
  const found: Value[] = []
  for (const [outer, index] of candidates(cidrs))
    for (const [inner, other] of candidates(parts)) if (contains(outer, inner)) found.push([index, other])
  return RegoSet.of(found)
}

/** The fewest blocks that cover the same addresses. */
function merge(list: readonly Value[] | RegoSet): Value {
  const blocks = (list instanceof RegoSet ? list.sorted : list).map((item) => {
    if (typeof item !== 'string') throw new BuiltinError('element must be string')
    if (!item.includes('/'))
      throw new RegoFailed('eval_unsupported', 'Merging addresses without a prefix length is not known here')
    return block(item)
  })
  const texts: Value[] = []
  for (const bits of [32, 128]) {
    const ranges = blocks
      .filter((one) => one.bits === bits)
      .sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0))
    const merged: { first: bigint; last: bigint }[] = []
    for (const { first, last } of ranges) {
      const before = merged.at(-1)
      if (before && first <= before.last + 1n) {
        if (last > before.last) before.last = last
      } else merged.push({ first, last })
    }
    for (const range of merged) texts.push(...blocksOf(range.first, range.last, bits))
  }
  return RegoSet.of(texts)
}

function blocksOf(first: bigint, last: bigint, bits: number): string[] {
  const texts: string[] = []
  for (let at = first; at <= last; ) {
    let size = 0
    while (size < bits && ((at >> BigInt(size)) & 1n) === 0n && at + (1n << BigInt(size + 1)) - 1n <= last)
      size += 1
    texts.push(`${addressText(at, bits)}/${bits - size}`)
    at += 1n << BigInt(size)
  }
  return texts
}

export const netBuiltins: Builtin[] = [
  builtin('net.cidr_contains', ['s', 's'], 'b', (_, outer: string, inner: string) => contains(outer, inner)),
  builtin('net.cidr_intersects', ['s', 's'], 'b', (_, a: string, b: string) => intersects(a, b)),
  builtin('net.cidr_expand', ['s'], 't', (context, cidr: string) => expand(cidr, context)),
  builtin(
    'net.cidr_is_valid',
    ['*'],
    'b',
    (_, cidr: Value) => typeof cidr === 'string' && parsedBlock(cidr) !== undefined,
  ),
  builtin('net.cidr_contains_matches', ['sato', 'sato'], 't', (_, cidrs: Value, parts: Value) =>
    matches(cidrs, parts),
  ),
  builtin('net.cidr_merge', ['at'], 't', (_, list: readonly Value[] | RegoSet) => merge(list)),
]
