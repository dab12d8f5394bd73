/*
 * Marks: the tokens one jumps to. What a person did is told from what the engine did by who the token says did it:
 * silence and the engine are nobody.
 */

import { partyName } from '@/lib/base/party-name'
import type { Fact, Severity } from '@/lib/engine/facts'
import type { Run } from '@/lib/engine/run'
import { actWords } from '../act-words'
import { actsOfPeople } from '../acts-of-people'
import type { Mark, MarkKind, Seq, Transition } from './terms'

const acts = new Set<Fact['type']>(actsOfPeople)
const nobody = new Set(['engine', 'silence'])

/** It fails nothing (NOTES 3.3). */
function isMild(severity: Severity): boolean {
  return severity === 'info' || severity === 'warning'
}

function toldWords(agent: string): string {
  return `${partyName(agent)} told of an error`
}

export class MarkKeeper {
  readonly #byKind: Record<MarkKind, Mark[]> = {
    error: [],
    person: [],
    artifact: [],
    rollback: [],
    breaker: [],
    fork: [],
    transition: [],
  }
  readonly #byArtifact = new Map<string, Mark[]>()

  /** `run`: as it is after the token. */
  taken(run: Run, seq: Seq, at: number, fact: Fact | undefined): void {
    if (!fact) return
    const place =
      'visit' in fact ? { node: fact.node, visit: fact.visit } : run.reported?.placeOf.get(fact.jti)
    const put = (kind: MarkKind, words = actWords(fact), more: Partial<Mark> = {}): Mark => {
      const mark: Mark = { seq, at, kind, words, ...place, ...more }
      this.#byKind[kind].push(mark)
      return mark
    }
    if (acts.has(fact.type) && 'by' in fact && !nobody.has(fact.by)) put('person', actWords(fact, run))
    switch (fact.type) {
      case 'error': {
        const passing = fact.retryAt !== undefined || isMild(fact.severity)
        put('error', undefined, passing ? { passing } : {})
        return
      }
      case 'signal_received':
        put('error', toldWords(fact.agent), isMild(fact.severity) ? { passing: true } : {})
        return
      case 'reported':
        if (fact.meaning === 'error') {
          put('error', toldWords(fact.agent), isMild(fact.severity ?? 'error') ? { passing: true } : {})
        } else if (fact.meaning === 'circuit_open' || fact.meaning === 'circuit_close') put('breaker')
        return
      case 'artifact_set': {
        const mark = put('artifact', `${fact.artifact} changed`, { artifact: fact.artifact })
        const marks = this.#byArtifact.get(fact.artifact)
        if (marks) marks.push(mark)
        else this.#byArtifact.set(fact.artifact, [mark])
        return
      }
      case 'rollback_request':
      case 'rollback_result':
      case 'rollback_choice':
        put('rollback', actWords(fact, run))
        return
      case 'circuit_open':
      case 'circuit_close':
        put('breaker', `${actWords(fact)}: ${partyName(fact.downstream)}`)
        return
      case 'cascade_detected':
        put('breaker')
        return
      case 'workflow_start':
        if (fact.forkWid !== undefined) put('fork', 'forked from another run')
        return
      default:
    }
  }

  entered({ seq, at, node, visit }: Transition): void {
    this.#byKind.transition.push({ seq, at, kind: 'transition', words: `→ ${node}`, node, visit })
  }

  of(kind: MarkKind): readonly Mark[] {
    return this.#byKind[kind]
  }

  ofArtifact(artifact: string): readonly Mark[] {
    return this.#byArtifact.get(artifact) ?? []
  }

  get artifacts(): readonly string[] {
    return [...this.#byArtifact.keys()]
  }
}
