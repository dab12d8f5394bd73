/*
 * Two rollbacks that want the same steps (cascade section 6.8): the broader one takes precedence, of equal ones the
 * earlier. The broader takes a narrower one over that is under way: what is being undone right then ends first, and what
 * was undone stays as it is. Whoever loses is told which rollback won, and why.
 */
import type { RollbackOnly, RollbackScope } from './terms'

/** What a rollback wants. */
export interface Claim {
  id: string
  scope: RollbackScope
  only?: RollbackOnly
  /** The steps it reaches. */
  nodes: ReadonlySet<string>
  /** When it was asked for, ms since the epoch. */
  askedAt: number
}

export type Conflict =
  /** They have no step in common. */
  | { is: 'apart' }
  | { is: 'wins' }
  /** `why` ends a sentence that began with the winner. */
  | { is: 'loses'; why: string }

/** What becomes of a rollback that is asked for while another is under way. */
export function conflictWith(underWay: Claim, asked: Claim): Conflict {
  if (!overlaps(underWay.nodes, asked.nodes)) return { is: 'apart' }
  const more = breadth(asked) - breadth(underWay)
  if (more > 0) return { is: 'wins' }
  if (more < 0) return { is: 'loses', why: `is broader (${wordsOf(underWay)}, not ${wordsOf(asked)})` }
  if (asked.askedAt < underWay.askedAt) return { is: 'wins' }
  return { is: 'loses', why: `reaches as far (${wordsOf(underWay)}) and was asked for earlier` }
}

function overlaps(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  const [few, many] = a.size <= b.size ? [a, b] : [b, a]
  for (const node of few) if (many.has(node)) return true
  return false
}

/** Full workflow over sub-DAG over single step; a sub-DAG without what merely followed stands between the last two. */
export function breadth({ scope, only }: Pick<Claim, 'scope' | 'only'>): number {
  if (scope === 'sub_dag') return only === 'dependents' ? 1 : 2
  return scope === 'single' ? 0 : 3
}

function wordsOf({ scope, only }: Claim): string {
  if (scope === 'full_workflow') return 'the whole run'
  if (scope === 'single') return 'one step'
  return only === 'dependents' ? 'a step and what was made from it' : 'a step and all that followed'
}
