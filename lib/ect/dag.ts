/*
 * The DAG that tokens form through `par` (NOTES 1), checked in this order: the `jti` is new in its `wid`, every parent
 * exists, no parent is later than its child by more than 30 s, there is no cycle, and parents share the `wid` or the
 * link is recorded as one between workflows.
 *
 * In an append-only ledger every parent stands before its child, so a cycle cannot arise and none is searched for: a
 * check costs its parents, and 100,000 tokens cost 100,000 checks. Tokens that arrive from outside in any order have
 * no such guarantee; `checkAncestry` walks their ancestors and stops at 10,000.
 */
import { Problem } from '@/lib/base/problem'
import { SKEW_S } from './checks'
import type { Claims } from './claims'
import { quote } from './quote'

export const ANCESTORS_MAX = 10_000

/** What the DAG asks of a token. A token without `wid` has a `jti` that is unique everywhere. */
export type DagClaims = Pick<Claims, 'jti' | 'par' | 'iat'> & { wid?: string }

/** Checks tokens one by one, in the order of their ledger. */
export class DagChecker {
  /** `wid` → `jti` → `iat`. Tokens without a `wid` are kept under the empty one. */
  readonly #runs = new Map<string, Map<string, number>>()
  readonly #links = new Set<string>()

  /**
   * Adds the next token. Throws Problem `ect_duplicate_jti`, `ect_parent_unknown`, `ect_parent_later`, `ect_cycle` or
   * `ect_parent_foreign`; a refused token is not added.
   */
  add(claims: DagClaims): void {
    this.check(claims)
    const wid = claims.wid ?? ''
    let run = this.#runs.get(wid)
    if (run === undefined) {
      run = new Map()
      this.#runs.set(wid, run)
    }
    run.set(claims.jti, claims.iat)
  }

  /** The checks of `add` without adding: for a token that asks to be let in. */
  check(claims: DagClaims): void {
    const wid = claims.wid ?? ''
    if (this.#isTaken(claims.jti, wid)) {
      throw new Problem('ect_duplicate_jti', `A token with the jti ${claims.jti} is already in the ledger`, {
        jti: claims.jti,
      })
    }
    const run = this.#runs.get(wid)
    for (const parent of claims.par) this.#checkParent(claims, parent, run)
  }

  /**
   * Records that `child` may have `parent` of another run as its parent: a cross-workflow link. When that run is not
   * among the checked ones, the record alone vouches for the parent.
   */
  recordLink(child: string, parent: string): void {
    this.#links.add(`${child} ${parent}`)
  }

  /** True when a token with this `jti` was added to the run. */
  has(jti: string, wid = ''): boolean {
    return this.#runs.get(wid)?.has(jti) ?? false
  }

  #isTaken(jti: string, wid: string): boolean {
    if (wid !== '') return (this.#runs.get(wid)?.has(jti) ?? false) || (this.#runs.get('')?.has(jti) ?? false)
    return this.#findElsewhere(jti) !== undefined
  }

  #checkParent(claims: DagClaims, parent: string, run: ReadonlyMap<string, number> | undefined): void {
    if (parent === claims.jti) throw cycle(claims.jti)
    const inRun = run?.get(parent)
    const iat = inRun ?? this.#findElsewhere(parent)
    const isLinked = inRun === undefined && this.#links.has(`${claims.jti} ${parent}`)
    if (iat === undefined) {
      if (isLinked) return

      throw new Problem(
        'ect_parent_unknown',
        `The parent ${parent} of token ${claims.jti} is not in the ledger`,
        {
          jti: claims.jti,
          parent,
        },
      )
    }
    checkNotLater(claims, parent, iat)
    if (inRun === undefined && !isLinked) {
      throw new Problem(
        'ect_parent_foreign',
        `The parent ${parent} of token ${claims.jti} belongs to another run, and no link between the runs is recorded`,
        { jti: claims.jti, parent },
      )
    }
  }

  #findElsewhere(jti: string): number | undefined {
    for (const run of this.#runs.values()) {
      const iat = run.get(jti)
      if (iat !== undefined) return iat
    }
    return undefined
  }
}

/**
 * Looks for a cycle among the ancestors of a token from outside. `parentsOf` gives a token's parents; undefined for a
 * token that needs no further look, because it stands in a ledger that was checked in order, or is not known.
 * Throws Problem `ect_cycle`, or `ect_too_many_ancestors` past 10,000.
 */
export function checkAncestry(
  token: Pick<Claims, 'jti' | 'par'>,
  parentsOf: (jti: string) => readonly string[] | undefined,
): void {
  const seen = new Set<string>()
  const toVisit = [...token.par]
  for (let jti = toVisit.pop(); jti !== undefined; jti = toVisit.pop()) {
    if (jti === token.jti) throw cycle(token.jti)
    if (seen.has(jti)) continue
    seen.add(jti)
    if (seen.size > ANCESTORS_MAX) {
      throw new Problem(
        'ect_too_many_ancestors',
        `The token ${quote(token.jti)} has more than ${ANCESTORS_MAX} ancestors that were never checked`,
        { jti: token.jti },
      )
    }
    for (const parent of parentsOf(jti) ?? []) toVisit.push(parent)
  }
}

function checkNotLater(claims: DagClaims, parent: string, parentIat: number): void {
  if (parentIat <= claims.iat + SKEW_S) return
  throw new Problem(
    'ect_parent_later',
    `The parent ${parent} was issued ${parentIat - claims.iat} s after its child ${claims.jti}; at most ${SKEW_S} s are tolerated`,
    { jti: claims.jti, parent },
  )
}

function cycle(jti: string): Problem {
  return new Problem(
    'ect_cycle',
    `The token ${quote(jti)} is its own ancestor; "par" must not form a cycle`,
    { jti },
  )
}
