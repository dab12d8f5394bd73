import canonicalize from 'canonicalize'

/**
 * The canonical text of a JSON value (RFC 8785): the same value has one text, so it has one hash.
 * Throws a TypeError for what JSON cannot say (undefined, functions, NaN).
 */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('Only JSON values have a canonical text')
  return text
}
