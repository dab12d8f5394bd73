/*
 * The claims of an Execution Context Token, and the door they come in through. `parseClaims` believes nothing: past
 * it, types hold, limits hold, and the two spellings of the draft (`par | pred`, `ext | ect_ext`) have become one.
 * The guards are written by hand because a ledger of 100,000 tokens is parsed whenever it is folded or verified.
 */
import { isJsonObject, type JsonObject } from '@/lib/base/json'
import { Problem, type ProblemCode } from '@/lib/base/problem'
import { quote } from './quote'

/** The claims of an Execution Context Token, in the spelling Holdpoint writes (NOTES 1). Times are whole seconds. */
export interface Claims {
  iss: string
  aud: string | string[]
  iat: number
  exp: number
  jti: string
  /** UUID of the run. */
  wid: string
  exec_act: string
  par: string[]
  inp_hash?: string
  out_hash?: string
  ext?: JsonObject
}

/** Serialized `ext`, in UTF-8 octets. */
export const EXT_MAX_BYTES = 4096
/** `ext` itself is the first level. */
export const EXT_MAX_LEVELS = 5
export const PARENTS_MAX = 100

const NAME_MAX_CHARS = 2048
const AUDIENCES_MAX = 100
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const UUID_ANY_CASE = new RegExp(UUID.source, 'i')
/** 43 characters carry 258 bits: the last one has two to spare, and they must be zero or one hash has four spellings. */
const HASH = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/
/** A URI with a scheme, without white space: `spiffe://example.com/agent/b`. */
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:[^\s\p{Cc}]+$/u
const EXEC_ACT = /^[^\s\p{Cc}]{1,200}$/u

/**
 * The claims of a parsed payload (NOTES 1). UUIDs come out in lower case, so that one id has one spelling; members
 * the token format does not name are left behind.
 *
 * Throws Problem `ect_claim_invalid` naming the claim, `ect_too_many_parents`, `ect_ext_too_long` or `ect_ext_too_deep`.
 */
export function parseClaims(json: unknown): Claims {
  if (!isJsonObject(json))
    refuse('payload', `The payload is ${quote(json)}; expected a JSON object of claims`)
  const claims: Claims = {
    iss: uri(json, 'iss'),
    aud: audience(json.aud),
    iat: seconds(json, 'iat'),
    exp: seconds(json, 'exp'),
    jti: uuid(json.jti, 'jti'),
    wid: uuid(json.wid, 'wid'),
    exec_act: execAct(json.exec_act),
    par: parents(oneSpelling(json, 'par', 'pred')),
  }
  if (json.inp_hash !== undefined) claims.inp_hash = hash(json, 'inp_hash')
  if (json.out_hash !== undefined) claims.out_hash = hash(json, 'out_hash')
  const ext = oneSpelling(json, 'ext', 'ect_ext')
  if (ext !== undefined) claims.ext = extension(ext)
  return claims
}

/** True when the text is a UUID in lower case. */
export function isUuid(text: unknown): text is string {
  return typeof text === 'string' && UUID.test(text)
}

function refuse(claim: string, sentence: string, code: ProblemCode = 'ect_claim_invalid'): never {
  throw new Problem(code, sentence, { claim })
}

/** The draft renamed two claims; a token that carries both spellings could mean two things to two readers. */
function oneSpelling(json: JsonObject, ours: 'par' | 'ext', newer: 'pred' | 'ect_ext'): unknown {
  if (json[newer] === undefined) return json[ours]
  if (json[ours] === undefined) return json[newer]
  return refuse(ours, `The token carries both "${ours}" and "${newer}"; write only one of the two spellings`)
}

function uri(json: JsonObject, claim: 'iss'): string {
  const value = json[claim]
  if (typeof value === 'string' && value.length <= NAME_MAX_CHARS && URI.test(value)) return value
  return refuse(claim, `"${claim}" is ${quote(value)}; expected a SPIFFE id or another URI`)
}

function audience(value: unknown): string | string[] {
  const isName = (name: unknown): name is string =>
    typeof name === 'string' && name.length > 0 && name.length <= NAME_MAX_CHARS
  if (isName(value)) return value
  if (Array.isArray(value) && value.length > 0 && value.length <= AUDIENCES_MAX && value.every(isName)) {
    return value
  }
  return refuse('aud', `"aud" is ${quote(value)}; expected a name or a list of 1 to ${AUDIENCES_MAX} names`)
}

function seconds(json: JsonObject, claim: 'iat' | 'exp'): number {
  const value = json[claim]
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  return refuse(claim, `"${claim}" is ${quote(value)}; expected whole seconds since 1970`)
}

function uuid(value: unknown, claim: string): string {
  if (typeof value === 'string') {
    if (UUID.test(value)) return value
    if (UUID_ANY_CASE.test(value)) return value.toLowerCase()
  }
  return refuse(
    claim,
    `"${claim}" is ${quote(value)}; expected a UUID such as 7f3a0c1e-5b1d-4c1e-9d2a-0c1e5b1dc2e1`,
  )
}

function execAct(value: unknown): string {
  if (typeof value === 'string' && EXEC_ACT.test(value)) return value
  return refuse(
    'exec_act',
    `"exec_act" is ${quote(value)}; expected a name of 1 to 200 characters without spaces`,
  )
}

function parents(value: unknown): string[] {
  if (!Array.isArray(value)) {
    refuse('par', `"par" is ${quote(value)}; expected a list of parent ids, [] for a root`)
  }
  if (value.length > PARENTS_MAX) {
    refuse(
      'par',
      `"par" names ${value.length} parents; at most ${PARENTS_MAX} are allowed, so group them under a join token`,
      'ect_too_many_parents',
    )
  }
  return value.map((parent, at) => uuid(parent, `par[${at}]`))
}

function hash(json: JsonObject, claim: 'inp_hash' | 'out_hash'): string {
  const value = json[claim]
  if (typeof value === 'string' && HASH.test(value)) return value
  return refuse(claim, `"${claim}" is ${quote(value)}; expected a SHA-256 as 43 characters of base64url`)
}

function extension(value: unknown): JsonObject {
  if (!isJsonObject(value)) refuse('ext', `"ext" is ${quote(value)}; expected a JSON object`)
  // Depth first: it bounds the recursion of everything after it, JSON.stringify included.
  if (isDeeperThan(value, EXT_MAX_LEVELS)) {
    refuse(
      'ext',
      `"ext" is nested more than ${EXT_MAX_LEVELS} levels deep; store the value and carry its hash`,
      'ect_ext_too_deep',
    )
  }
  const bytes = utf8Length(JSON.stringify(value))
  if (bytes > EXT_MAX_BYTES) {
    refuse(
      'ext',
      `"ext" is ${bytes} bytes long; at most ${EXT_MAX_BYTES} are allowed, so store the value and carry its hash`,
      'ect_ext_too_long',
    )
  }
  return value
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const member of Object.values(value)) if (isDeeperThan(member, levels - 1)) return true
  return false
}

/** Octets of the text in UTF-8, counted only when a wide character could push it over the limit. */
function utf8Length(text: string): number {
  if (text.length * 3 <= EXT_MAX_BYTES) return text.length
  return new TextEncoder().encode(text).length
}
