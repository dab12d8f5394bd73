/** What the bundle says in its own words, held against the ledgers that bear it out (claims.ts). */
import { entryName } from './bundle'
import { type DecisionClaim, decisionsOf, type ReportClaims, reportClaims } from './claims'
import type { BundleFailure } from './doubt'
import type { Evidence, RunEvidence } from './evidence'

type Say = (failure: BundleFailure) => void

/** Members of a decision that do not stand in its token. */
const ownMembers = new Set(['run', 'seq', 'jti', 'asked'])

/** Says each decision that its token does not bear out, and the runs whose decisions are not all there. */
export function checkDecisions(said: readonly DecisionClaim[], { runs }: Evidence, say: Say): void {
  const byRun = new Map(runs.map((run) => [run.run, run]))
  const counts = new Map<string, number>()
  for (const decision of said) {
    counts.set(decision.run, (counts.get(decision.run) ?? 0) + 1)
    const run = byRun.get(decision.run)
    const wrong = run ? wrongMember(decision, run) : 'run'
    if (wrong !== undefined) {
      say({
        ...about(entryName.decisions, decision),
        sentence: `The decision of token ${decision.seq} of ${decision.run} says another "${wrong}" than the token.`,
      })
    }
  }
  for (const run of runs) {
    const expected = decisionsOf({ runs: [run] }).length
    if ((counts.get(run.run) ?? 0) === expected) continue
    say({
      entry: entryName.decisions,
      code: 'bundle_claim_false',
      sentence: `The ledger of ${run.run} has ${expected} decisions, and ${counts.get(run.run) ?? 0} are listed.`,
    })
  }
}

function wrongMember(decision: DecisionClaim, run: RunEvidence): string | undefined {
  const note = run.notes[decision.seq - 1]
  if (note?.jti !== decision.jti || !note.fact) return 'jti'
  const fact: Record<string, unknown> = { ...note.fact }
  const wrong = Object.keys(decision).find(
    (member) => !ownMembers.has(member) && decision[member] !== fact[member],
  )
  if (wrong !== undefined) return wrong
  if (!decision.asked) return undefined
  const asked = run.notes[(run.seqOf.get(decision.asked.jti) ?? 0) - 1]?.fact
  const same =
    asked?.type === 'approval_asked' &&
    asked.approval === fact.approval &&
    asked.sentence === decision.asked.sentence &&
    asked.role === decision.asked.role
  return same ? undefined : 'asked'
}

/** Says each figure of the report that does not follow from the evidence. */
export function checkReport(said: ReportClaims, evidence: Evidence, say: Say): void {
  const found = reportClaims(evidence)
  const wrong = (what: string, place: { seq?: number; jti?: string } = {}) =>
    say({ ...about(entryName.claims, place), sentence: `The report’s claims are false: ${what}.` })
  if (said.run !== found.run) wrong(`it is of ${said.run}, and the bundle of ${found.run}`)
  if (said.at !== found.at)
    wrong(`it says the state is of ${said.at}, and the newest token is of ${found.at}`)
  for (const member of ['decisions', 'leftOut'] as const) {
    if (said[member] !== found[member])
      wrong(`it counts ${said[member]} as "${member}", and there are ${found[member]}`)
  }
  for (const member of ['count', 'bytes'] as const) {
    if (said.values[member] !== found.values[member])
      wrong(`it says ${said.values[member]} as "${member}" of its values, and it is ${found.values[member]}`)
  }
  compareLists('runs', said.runs, found.runs, wrong)
  compareLists('artifacts', said.artifacts, found.artifacts, wrong)
  compareLists('errors', said.errors, found.errors, wrong)
  compareLists('rollbacks', said.rollbacks, found.rollbacks, wrong)
}

/** Every member that this version knows of; a later one may say more. */
function compareLists(
  what: string,
  said: readonly object[],
  found: readonly object[],
  wrong: (what: string, place?: { seq?: number; jti?: string }) => void,
): void {
  if (said.length !== found.length)
    return wrong(`it lists ${said.length} ${what}, and the ledgers have ${found.length}`)
  for (const [at, one] of found.entries()) {
    const claimed = said[at] as Record<string, unknown>
    const member = Object.entries(one).find(([name, value]) => claimed[name] !== value)?.[0]
    if (member !== undefined) return wrong(`"${member}" of number ${at + 1} of its ${what} is not so`, one)
  }
}

function about(entry: string, { seq, jti }: { seq?: number; jti?: string }): Omit<BundleFailure, 'sentence'> {
  return {
    entry,
    ...(seq !== undefined && { seq }),
    ...(jti !== undefined && { jti }),
    code: 'bundle_claim_false',
  }
}
