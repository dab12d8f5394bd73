/** From an error back to what it began with: what it names as its causes, else what it followed from. */
import { actWords } from '@/lib/view/act-words'
import type { Noted, RunEvidence } from '../evidence'
import { cut } from './words'

export interface Cause {
  seq: number
  by: 'upstream' | 'par'
  words: string
}

const causesMax = 12

/** The tokens behind an error, the nearest first; each is in the same ledger. */
export function causesOf(run: RunEvidence, symptom: Noted): Cause[] {
  const causes: Cause[] = []
  const seen = new Set([symptom.seq])
  let at: Noted | undefined = symptom
  while (at && causes.length < causesMax) {
    const next = behind(run, at, seen)
    if (!next) break
    seen.add(next.note.seq)
    causes.push({ seq: next.note.seq, by: next.by, words: wordsOf(run, next.note) })
    at = next.note
  }
  return causes
}

function behind(run: RunEvidence, { fact, par }: Noted, seen: ReadonlySet<number>) {
  const upstream = fact?.type === 'error' ? fact.upstream : []
  for (const [by, jtis] of [
    ['upstream', upstream],
    ['par', par],
  ] as const) {
    for (const jti of jtis) {
      const seq = run.seqOf.get(jti)
      const note = seq === undefined ? undefined : run.notes[seq - 1]
      if (!note || seen.has(note.seq)) continue
      // A cause that is named counts whatever it is; what a token merely follows from, where it went wrong there.
      if (by === 'upstream' || note.fact?.type === 'error') return { note, by }
    }
  }
  return undefined
}

function wordsOf({ graph }: RunEvidence, { fact, act }: Noted): string {
  if (!fact) return act
  const where = 'node' in fact ? `${graph.nodes.get(fact.node)?.label || fact.node}: ` : ''
  const why = fact.type === 'error' ? `, ${cut(fact.description, 300)}` : ''
  return `${where}${actWords(fact)}${why}`
}
