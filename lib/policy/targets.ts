/*
 * Network targets a workflow may reach. Public unicast addresses are allowed. Loopback, private, link-local, carrier
 * NAT and unique-local addresses are refused unless the policy names them: under `privateTargets` as `host:port`, `host`
 * or a CIDR, or as the host that a URL pattern of its allowlist spells out (grants.ts). Addresses that no request is ever
 * meant for (unspecified, multicast, broadcast, reserved, translation prefixes that smuggle an IPv4 address) are refused
 * whatever the policy says.
 *
 * A name is judged by every address it resolves to, and the request then goes to an address that was judged: a name
 * that answers differently the second time gains nothing.
 */
import ipaddr from 'ipaddr.js'
import type { Answer, Refused } from './answer'

/** A URL that may be asked about: its host without brackets, and its port with the scheme's default filled in. */
export interface Target {
  url: URL
  host: string
  port: number
}

/** Reads a URL a request shall go to. Refused: other schemes than http and https, credentials, no host, control characters. */
export function targetOf(text: string): Target | Refused {
  if (hasControl(text)) return refusedUrl('The URL holds a space or a control character; percent-encode it.')
  if (!URL.canParse(text)) {
    return refusedUrl('The URL is not one; write it in full, such as https://api.example.com/orders.')
  }
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return refusedUrl(
      `The URL has the scheme "${url.protocol.slice(0, 20)}"; only http and https are allowed.`,
    )
  }
  if (url.username !== '' || url.password !== '') {
    return refusedUrl('The URL carries a user name or password; put credentials into a header.')
  }
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (host === '') return refusedUrl('The URL names no host.')
  return { url, host, port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80) }
}

/** True for a refusal. */
export function isRefused(answer: object): answer is Refused {
  return 'allowed' in answer && answer.allowed === false
}

function refusedUrl(sentence: string): Refused {
  return { allowed: false, rule: 'http and https without credentials', code: 'url_refused', sentence }
}

function hasControl(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code <= 0x20 || code === 0x7f) return true
  }
  return false
}

// Ranges an author may open by naming them; every other special range stays closed.
const privateRanges: Readonly<Record<string, string>> = {
  loopback: 'a loopback address',
  private: 'a private address',
  linkLocal: 'a link-local address',
  uniqueLocal: 'a private address',
  carrierGradeNat: 'a carrier-NAT address',
}

/** What an address is, in words, and whether a policy entry may open it. Undefined: public. */
export function specialRange(address: string): { words: string; canBeNamed: boolean } | undefined {
  if (!ipaddr.isValid(address)) return { words: 'not an IP address', canBeNamed: false }
  const parsed = ipaddr.process(address)
  const range: string = parsed.range()
  // ::a.b.c.d, the form that came before ::ffff:a.b.c.d; the library takes it for unicast.
  const embedsIpv4 =
    parsed.kind() === 'ipv6' &&
    parsed
      .toByteArray()
      .slice(0, 12)
      .every((byte) => byte === 0)
  if (range === 'unicast' && !embedsIpv4) return undefined
  const words = privateRanges[range]
  return words ? { words, canBeNamed: true } : { words: `a special address (${range})`, canBeNamed: false }
}

/**
 * Whether a request may go to this address of a target. `host` and `port` are the URL's, `address` is what the host
 * resolved to (the same text when the host is an address).
 */
export function addressAnswer(
  target: Pick<Target, 'host' | 'port'>,
  address: string,
  privateTargets: readonly string[],
): Answer {
  const special = specialRange(address)
  if (!special) return { allowed: true, rule: 'public addresses' }
  if (special.canBeNamed) {
    const entry = privateTargets.find((candidate) => entryNames(candidate, target, address))
    if (entry !== undefined) return { allowed: true, rule: `private target ${entry}` }
  }
  return {
    allowed: false,
    rule: special.canBeNamed ? 'private targets must be named' : 'special addresses are never reached',
    code: 'target_private',
    sentence: special.canBeNamed
      ? `"${target.host}" leads to ${special.words}; name "${hostPort(target)}" in the workflow’s policy if the workflow shall reach it, under "private_targets" or as the host of a URL in policy.http.urls.`
      : `"${target.host}" leads to ${special.words}, which no request may go to; use the address of a single machine.`,
  }
}

/**
 * Whether a request may go to the target, given every address its name resolved to: all must be allowed, so that a
 * name with one public and one private address is refused. The answer names the rule of the first address, or of the
 * first one refused.
 */
export function targetAnswer(
  target: Pick<Target, 'host' | 'port'>,
  addresses: readonly string[],
  privateTargets: readonly string[],
): Answer {
  const answers = addresses.map((address) => addressAnswer(target, address, privateTargets))
  return (
    answers.find(isRefused) ??
    answers[0] ?? {
      allowed: false,
      rule: 'names must resolve',
      code: 'url_refused',
      sentence: `"${target.host}" resolves to no address; check its spelling.`,
    }
  )
}

/**
 * What can be said before any name is looked up: an address, or a name that is loopback by its own rules (RFC 6761
 * section 6.3). Undefined: only its addresses can tell.
 */
export function answerByName(
  target: Pick<Target, 'host' | 'port'>,
  privateTargets: readonly string[],
): Answer | undefined {
  if (ipaddr.isValid(target.host)) return addressAnswer(target, target.host, privateTargets)
  const isLoopbackName = target.host === 'localhost' || target.host.endsWith('.localhost')
  return isLoopbackName ? addressAnswer(target, '127.0.0.1', privateTargets) : undefined
}

/** A refused target in the words of a denied call: `http.request denied on 10.0.0.7:80: …`. */
export function deniedTarget(target: Pick<Target, 'host' | 'port'>, refused: Refused): Refused {
  return { ...refused, sentence: `http.request denied on ${hostPort(target)}: ${refused.sentence}` }
}

type Entry =
  | { form: 'network'; network: ReturnType<typeof ipaddr.parseCIDR> }
  | { form: 'host'; host: string; port?: number }

function parseEntry(entry: string): Entry | undefined {
  if (ipaddr.isValidCIDR(entry)) return { form: 'network', network: ipaddr.parseCIDR(entry) }
  if (ipaddr.IPv6.isValid(entry)) return { form: 'host', host: entry.toLowerCase() }
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::(\d{1,5}))?$/i.exec(entry)
  if (!match) return undefined
  const host = (match[1] ?? match[2] ?? '').toLowerCase().replace(/\.$/, '')
  const port = match[3] === undefined ? undefined : Number(match[3])
  if (host === '' || (match[1] && !ipaddr.IPv6.isValid(host)) || port === 0 || (port ?? 0) > 65_535) {
    return undefined
  }
  return { form: 'host', host, port }
}

function entryNames(text: string, target: Pick<Target, 'host' | 'port'>, address: string): boolean {
  const entry = parseEntry(text)
  if (!entry) return false
  if (entry.form === 'network') {
    const parsed = ipaddr.process(address)
    return parsed.kind() === entry.network[0].kind() && parsed.match(entry.network)
  }
  if (entry.port !== undefined && entry.port !== target.port) return false
  return entry.host === target.host || sameAddress(entry.host, address)
}

function sameAddress(one: string, other: string): boolean {
  if (!ipaddr.isValid(one) || !ipaddr.isValid(other)) return false
  return ipaddr.process(one).toNormalizedString() === ipaddr.process(other).toNormalizedString()
}

function hostPort(target: Pick<Target, 'host' | 'port'>): string {
  return `${target.host.includes(':') ? `[${target.host}]` : target.host}:${target.port}`
}
