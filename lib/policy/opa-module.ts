/*
 * A Rego module on its way into a shared Open Policy Agent. Every workflow writes `package agent`, and in one OPA equal
 * packages are one: their rules would join, and one workflow's `allow` would open another's doors. So each policy moves
 * into a package of its own, named by its hash, and so does everything it says about `data`:
 *
 *   package agent                      package holdpoint.p_3f….agent
 *   allow if input.x == data.region    allow if input.x == data.holdpoint.p_3f….region
 *
 * For that the text is read word by word, past strings and comments; every reference that begins with `data` is moved.
 * What a shared OPA could be misused for (requests of its own, its environment), or what cannot be moved safely, is
 * refused here before anything is uploaded.
 */

/** A policy that is not uploaded, and where the reason stands. Lines and columns count from 1. */
export class OpaRefused extends Error {
  constructor(
    sentence: string,
    readonly line: number,
    readonly column: number,
  ) {
    super(sentence)
    this.name = 'OpaRefused'
  }
}

const space = /\s+/y
const comment = /#[^\n]*/y
const quoted = /"(?:[^"\\\n]|\\[^\n])*"/y
const raw = /`[^`]*`/y
const word = /[\p{L}_][\p{L}\p{N}_]*/uy

/** Functions of OPA that reach out of the policy: its network and its environment. */
const reachesOut = /^(http\.send|opa\.runtime|net\.lookup_ip_addr)\b/

/** The module moved under `data.holdpoint.<room>`. Throws OpaRefused. */
export function movedModule(text: string, room: string): string {
  let moved = ''
  let at = 0
  let previous = ''
  let packages = 0
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    return pattern.exec(text)?.[0]
  }
  while (at < text.length) {
    const skipped = take(space) ?? take(comment) ?? take(quoted) ?? take(raw)
    if (skipped !== undefined) {
      moved += skipped
      at += skipped.length
      if (!/^[\s#]/.test(skipped)) previous = '"'
      continue
    }
    const found = take(word)
    const piece = found ?? text.charAt(at)
    if (piece === '$' || piece === '"' || piece === '`') {
      throw refusedAt(text, at, 'holds a text that is not closed or is a template, which is not uploaded')
    }
    const isMember = previous === '.'
    if (!isMember && reachesOut.test(text.slice(at, at + 40))) {
      throw refusedAt(
        text,
        at,
        'calls a function that reaches out of the policy, which a shared OPA must not do',
      )
    }
    if (found === 'package' && !isMember) {
      packages += 1
      const name = /^package[ \t]+(?=[\p{L}_])/u.exec(text.slice(at))?.[0]
      if (name === undefined) throw refusedAt(text, at, 'has a package without a plain name')
      moved += `${name}holdpoint.${room}.`
      at += name.length
      previous = '.' // What follows is the rest of the name, also if it were `data`.
      continue
    }
    moved += found === 'data' && !isMember ? `data.holdpoint.${room}` : piece
    at += piece.length
    previous = piece
  }
  if (packages !== 1)
    throw refusedAt(text, 0, `names ${packages === 0 ? 'no package' : 'several packages'}; it needs one`)
  return moved
}

/** `data.agent.allow` as the address of a decision: `agent/allow`. Throws OpaRefused for any other query. */
export function queryPath(query: string): string {
  const names = /^data((?:\.[A-Za-z_][A-Za-z0-9_]*)+)$/.exec(query.trim())?.[1]
  if (names === undefined) {
    throw new OpaRefused(
      'is asked with a query that OPA is not asked here; name one rule, such as data.agent.allow',
      1,
      1,
    )
  }
  return names.slice(1).replaceAll('.', '/')
}

function refusedAt(text: string, at: number, words: string): OpaRefused {
  const before = text.slice(0, at)
  const lineStart = before.lastIndexOf('\n') + 1
  return new OpaRefused(words, before.split('\n').length, at - lineStart + 1)
}
