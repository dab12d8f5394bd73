/*
 * The outermost layer of a bundle: that the file is one at all, and that a key signed the manifest. Where the bundle's own
 * keys were changed it is they that are named, and not what they no longer verify.
 */
import { createHash } from 'node:crypto'
import { canonicalJson } from '@/lib/base/canonical-json'
import { sha256 } from '@/lib/base/hash'
import { Problem } from '@/lib/base/problem'
import { decodeJws, payloadOf, unverifiedPayload } from '@/lib/ect/jws'
import { keyFor, parseKeySet, type VerificationKey, type VerificationKeys } from '@/lib/ect/keys'
import { checkSignatureSync } from '@/lib/ect/verify-node'
import { bundleType, entryName, type Manifest } from './bundle'
import { doubt } from './doubt'
import { jsonOf } from './manifest-shape'
import type { NamedKey } from './verdict'

/**
 * Who hands in a picture is told that it is no bundle, and not what is wrong with its tar headers. A bundle that was
 * damaged in one place still shows the name of its first entry, or tar's mark and the names of others.
 */
export function refuseOtherFiles(file: Uint8Array): void {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
  if (bytes.subarray(0, 512).includes(entryName.statement)) return
  const isTar = bytes.toString('latin1', 257, 262) === 'ustar'
  if (isTar && [entryName.manifest, entryName.keys].some((name) => bytes.includes(name))) return
  const found =
    bytes.length === 0
      ? 'the file is empty'
      : isTar
        ? 'it is a tar file with other entries'
        : 'it does not begin as one does'
  throw new Problem(
    'bundle_invalid',
    `This is not a Holdpoint bundle: ${found}; expected a file that "holdpoint export" or the console's export wrote`,
  )
}

/** The key that signed the statement, and the manifest's hash it vouches for. */
export function statementOf(
  statement: Uint8Array,
  manifest: Uint8Array,
  from: { keys: VerificationKeys | (() => VerificationKeys); keysEntry: Uint8Array },
): { signedBy: VerificationKey; manifestHash: unknown } {
  try {
    const jws = decodeJws(textOf(statement), [bundleType])
    const signedBy = keyFor(jws.header, typeof from.keys === 'function' ? from.keys() : from.keys)
    if (!checkSignatureSync(jws, signedBy)) {
      throw new Problem(
        'ect_signature_invalid',
        `The signature of the manifest does not hold under the key ${signedBy.kid}`,
      )
    }
    return { signedBy, manifestHash: payloadOf(jws).manifest }
  } catch (error) {
    // When the bundle's own keys were changed, it is they that do not hold, and not what they no longer verify.
    if (typeof from.keys === 'function') blameKeys(statement, manifest, from.keysEntry)
    if (error instanceof Problem) doubt(entryName.statement, error.message, error.code)
    throw error
  }
}

/** Throws a Doubt about keys.json when the manifest that the statement speaks of lists other keys. Believes nothing. */
function blameKeys(statement: Uint8Array, manifest: Uint8Array, keys: Uint8Array): void {
  let listed: unknown
  try {
    if (unverifiedPayload(textOf(statement), [bundleType]).manifest !== sha256(manifest)) return
    const { entries } = JSON.parse(textOf(manifest)) as Manifest
    listed = entries.find(({ name }) => name === entryName.keys)?.sha256
  } catch {
    return
  }
  if (listed !== sha256(keys)) doubt(entryName.keys, 'The keys are not those that the manifest lists')
}

export function ownKeySet(content: Uint8Array): VerificationKeys {
  return parseKeySet(jsonOf(entryName.keys, content))
}

export function named({ kid, jwk }: VerificationKey): NamedKey {
  return { kid, thumbprint: createHash('sha256').update(canonicalJson(jwk)).digest('base64url') }
}

function textOf(content: Uint8Array): string {
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('utf8')
}
