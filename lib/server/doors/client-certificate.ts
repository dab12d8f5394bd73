/*
 * Mutual TLS ends at a proxy in front: it has verified the agent's certificate and passes it on in a header. Such a
 * header is whatever a client wrote unless that proxy set it, so it is read only where the installation names it, and
 * only beside a secret that the proxy alone knows:
 *
 *   HOLDPOINT_TRUSTED_CERT_HEADER    its name, such as client-cert; without it no certificate is ever believed
 *   HOLDPOINT_TRUSTED_PROXY_SECRET   what the proxy sends as x-holdpoint-proxy-secret; 16 characters or more
 *
 * Three spellings of the header are read: RFC 9440 (`:base64 of DER:`), URL-encoded PEM (nginx, Traefik), and the
 * fields of Envoy (`By=…;URI=spiffe://…`). The proxy must strip both headers from what clients send.
 */
import { timingSafeEqual, X509Certificate } from 'node:crypto'
import { sha256 } from '@/lib/base/hash'
import { Problem } from '@/lib/base/problem'

const secretHeader = 'x-holdpoint-proxy-secret'
const leastSecretChars = 16
const maxHeaderChars = 16_384

/** The SPIFFE id of the client certificate that a trusted proxy vouches for; undefined where none came or none is trusted. Throws Problem `proxy_untrusted`. */
export function certifiedAgent(
  request: Request,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
  const name = env.HOLDPOINT_TRUSTED_CERT_HEADER?.trim().toLowerCase() ?? ''
  const value = name === '' ? null : request.headers.get(name)
  if (value === null || value === '') return undefined
  const secret = env.HOLDPOINT_TRUSTED_PROXY_SECRET ?? ''
  if (secret.length < leastSecretChars) {
    throw new Problem(
      'proxy_untrusted',
      `The request brings a client certificate, and no proxy is trusted to: HOLDPOINT_TRUSTED_PROXY_SECRET needs ${leastSecretChars} characters or more.`,
    )
  }
  if (!isSame(request.headers.get(secretHeader) ?? '', secret)) {
    throw new Problem(
      'proxy_untrusted',
      `The request brings a client certificate without the proxy's secret in ${secretHeader}; only the trusted proxy may send "${name}".`,
    )
  }
  return spiffeIdIn(value.slice(0, maxHeaderChars))
}

/** Both are hashed, so that neither length nor content shows in the time it takes. */
function isSame(given: string, secret: string): boolean {
  return timingSafeEqual(Buffer.from(sha256(given)), Buffer.from(sha256(secret)))
}

/** A SPIFFE certificate has exactly one URI among its names (SPIFFE X.509-SVID section 2). */
function spiffeIdIn(value: string): string {
  const uris =
    value.includes('=') && !value.includes('-----BEGIN') && !value.startsWith(':') && !value.startsWith('%')
      ? forwardedUris(value)
      : certificateUris(value)
  const [uri] = uris
  if (uris.length === 1 && uri?.startsWith('spiffe://')) return uri
  throw new Problem(
    'proxy_untrusted',
    `The client certificate has ${uris.length} URIs among its names; exactly one, a SPIFFE id, was expected.`,
  )
}

/** Envoy's `x-forwarded-client-cert`: the last element is what the nearest proxy saw. */
function forwardedUris(value: string): string[] {
  const fields = outsideQuotes(value, ',').at(-1) ?? ''
  return outsideQuotes(fields, ';')
    .map((field) => field.trim())
    .filter((field) => /^uri=/i.test(field))
    .map((field) => field.slice(4).replace(/^"(.*)"$/, '$1'))
    .filter((uri) => uri !== '')
}

function certificateUris(value: string): string[] {
  try {
    const names = new X509Certificate(encoded(value)).subjectAltName ?? ''
    return outsideQuotes(names, ',')
      .map((name) => name.trim())
      .filter((name) => name.startsWith('URI:'))
      .map((name) => name.slice(4).replace(/^"(.*)"$/, '$1'))
  } catch {
    throw new Problem(
      'proxy_untrusted',
      'The client certificate cannot be read; expected RFC 9440, URL-encoded PEM, or fields with a URI.',
    )
  }
}

function encoded(value: string): Buffer | string {
  const der = /^:([A-Za-z0-9+/=]+):$/.exec(value.trim())?.[1]
  return der === undefined ? decodeURIComponent(value) : Buffer.from(der, 'base64')
}

/** Parts at a character that stands in no quotes: a name may hold commas of its own, and then it is quoted. */
function outsideQuotes(text: string, at: ',' | ';'): string[] {
  return text.match(at === ',' ? /(?:"(?:[^"\\]|\\.)*"|[^,"])+/g : /(?:"(?:[^"\\]|\\.)*"|[^;"])+/g) ?? []
}
