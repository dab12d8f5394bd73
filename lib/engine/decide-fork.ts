/*
 * The first commit of a fork: that it began, what it takes as done of the run it is forked from, and the artifacts that
 * whoever forks gives other values. All of it is one decision, so it is one transaction: a fork is there whole or not.
 *
 *   workflow_start (fork_wid, fork_seq; follows the original's token) ─▶ [artifact_set …] step_carried ─▶ … ─▶ artifact_set by the person
 *
 * What is carried is laid out on the fork's own graph, which may be a newer version: each step has to stand where that
 * graph comes to, or the fork is refused.
 */
import { clip } from '@/lib/base/clip'
import { Problem } from '@/lib/base/problem'
import type { GraphIndex } from '@/lib/workflow/graph-index'
import type { CarriedFact, Command, Fork } from './commands'
import { type Draft, parentsOfStep } from './draft'
import { evolve, newRun } from './evolve'
import type { FactBody } from './facts'
import { goesOnWith } from './fork-point'
import type { Run, Visit } from './run'
import { anyVisitOf } from './visit-states'

/** Steps and artifacts that one fork carries: the longest walk there is, and twice as many writings beside it. */
export const maxCarriedFacts = 30_000

/**
 * Begins a fork. Throws Problem `fork_impossible` when the graph does not lead the way that is carried, `bad_request` for
 * an artifact that the workflow does not declare, `too_large` when too much is carried.
 */
export function decideFork(
  run: Run,
  command: Extract<Command, { type: 'start' }>,
  fork: Fork,
  draft: Draft,
): void {
  const { graph } = run.graph
  layOut(
    run.graph,
    {
      type: 'workflow_start',
      wfId: graph.name,
      description: clip(graph.description, 800),
      nodeCount: graph.nodes.length,
      version: command.version,
      by: command.by,
      dryRun: command.dryRun,
      input: command.input,
      entry: fork.entry,
      deadlineAt: command.deadlineAt,
      forkWid: fork.wid,
      forkSeq: fork.seq,
      forkReason: fork.reason === undefined ? undefined : clip(fork.reason, 600),
    },
    fork,
    draft,
  )
}

/** Adds a fork's facts to a draft, and gives the run that they come to. Throws as `decideFork` does. */
export function layOut(
  graph: GraphIndex,
  start: Extract<FactBody, { type: 'workflow_start' }>,
  fork: Pick<Fork, 'jti' | 'carried' | 'edited'>,
  draft: Draft,
): Run {
  if (fork.carried.length + fork.edited.length > maxCarriedFacts) {
    throw new Problem(
      'too_large',
      `${fork.carried.length + fork.edited.length} steps and artifacts would be carried; a fork carries at most ${maxCarriedFacts}`,
    )
  }
  const laid = newRun(graph)
  const add = (body: FactBody, par: string[]): string => {
    const from = draft.decision.facts.length
    const jti = draft.add(body, par)
    for (const fact of draft.decision.facts.slice(from)) evolve(laid, fact)
    return jti
  }
  checkEntry(graph, start.entry)
  add(start, [fork.jti])
  /** Writings of the visit that is completed next, by node. */
  const written = new Map<string, string[]>()
  for (const fact of fork.carried) {
    const visit = placeFor(laid, fact)
    const before = visit.doneJti === undefined ? parentsOfStep(laid, visit) : [visit.doneJti]
    const writings = written.get(fact.node) ?? []
    if (fact.type === 'artifact_set') {
      written.set(fact.node, [...writings, add(fact, before)])
    } else {
      add(fact, [...before, ...writings])
      written.delete(fact.node)
    }
  }
  addEdits(laid, start.by, fork.edited, add)
  return laid
}

function checkEntry(graph: GraphIndex, entry: string | undefined): void {
  if (graph.graph.order === 'stepwise' && !graph.nodes.has(entry ?? '')) {
    throw impossible(`has no step "${clip(entry ?? '', 80)}", where the run began`)
  }
}

/** The visit that a carried fact is about, if the graph leads to it by now. */
function placeFor(laid: Run, { type, node, visit: nth }: CarriedFact): Visit {
  if (!laid.graph.nodes.has(node)) throw impossible(`has no step "${clip(node, 80)}", which is done`)
  const visit = anyVisitOf(laid, node, nth)
  if (type === 'artifact_set' && visit) return visit
  if (!laid.walk) {
    if (visit?.state.status === 'pending') return visit
    throw impossible(`cannot do "${node}" ${nth} times`)
  }
  const place = laid.walk.path.at(-1)?.visit
  if (visit && place === visit && visit.state.status !== 'done') return visit
  throw impossible(`leads ${whereItLeads(laid)}, where the run went to "${node}"`)
}

function whereItLeads({ walk }: Run): string {
  const last = walk?.path.at(-1)?.visit
  if (!last) return 'nowhere'
  const { node, state } = last
  if (state.status !== 'done') return `to "${node}"`
  const how = state.label === undefined ? '' : ` after ${state.label}`
  return walk?.ambiguous ? `from "${node}"${how} along several edges` : `nowhere from "${node}"${how}`
}

/** The person's own values, where the fork goes on; at its end, with its last step. */
function addEdits(
  laid: Run,
  by: string,
  edited: Fork['edited'],
  add: (body: FactBody, par: string[]) => string,
): void {
  if (edited.length === 0) return
  const place = goesOnWith(laid)[0] ?? laid.walk?.path.at(-1)?.visit ?? [...laid.visits.values()].at(-1)
  if (!place) return
  const before = place.doneJti === undefined ? parentsOfStep(laid, place) : [place.doneJti]
  const { artifacts } = laid.graph.graph
  for (const { name, value } of edited) {
    const slot = artifacts.find((declared) => declared.name === name)
    if (!slot) {
      const known = artifacts.map((declared) => declared.name).join(', ') || 'none'
      throw new Problem(
        'bad_request',
        `The workflow declares no artifact "${clip(name, 80)}"; it has ${known}`,
      )
    }
    const { node, visit } = place
    // The whole of it, also of an `append` slot: what follows is added to that.
    const mode = 'replace'
    add(
      { type: 'artifact_set', artifact: name, value, mediaType: slot.mediaType, mode, node, visit, by },
      before,
    )
  }
}

/** That graph does not lead the way; `why` goes on from "it". */
export function impossible(why: string): Problem {
  return new Problem('fork_impossible', `This version cannot take the run over: it ${why}`)
}
