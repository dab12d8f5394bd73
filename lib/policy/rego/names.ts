/*
 * Variables of terms, and spellings that no source has. What a global name means says resolve-names.ts; declared names get
 * a spelling of their own in rename.ts.
 */
import { type Term, walkTerm } from './ast'
import type { Place } from './refusal'

/** Makes names that no source can spell. */
export class Fresh {
  #next = 0

  name(base = ''): string {
    this.#next += 1
    return `${base}#${this.#next}`
  }

  var(at: Place): Term {
    return { kind: 'var', name: this.name(), at }
  }
}

/** Every variable of a term, those of closures included. */
export function collectVars(term: Term, into: Set<string>): void {
  walkTerm(term, (one) => {
    if (one.kind === 'var') into.add(one.name)
    if (one.kind === 'call') {
      for (const arg of one.args) collectVars(arg, into)
      return false
    }
    return undefined
  })
}
