/*
 * What an agent did last. No table says it: the runs that can have it in them are looked through, newest first and no
 * more than a bounded number, by the folds that the book has at hand anyway.
 */
import type { RunId } from '@/lib/base/ids'
import type { Run, Visit } from '@/lib/engine/run'
import type { RunRecord } from '@/lib/store/store'
import type { AgentActivity, AgentStep } from '@/lib/view/agent-wire'
import { visitShown } from '@/lib/view/frame'
import { runRowOf } from '@/lib/view/rows'
import { labelOf } from '@/lib/workflow/graph-index'
import { belongs } from './ingest'
import type { Installation } from './installation'

const runsListed = 40
/** Runs whose folds are looked at; a large one costs as much as hundreds. */
const runsRead = 16
const maxNodesRead = 2_000
const stepsShown = 30

/** The last runs and steps of an agent, as far as they are found among the newest runs. */
export async function activityOf(house: Installation, agent: string): Promise<AgentActivity> {
  const began = await house.store.runs.list({ startedBy: `agent:${agent}` }, { limit: runsRead })
  const newest = await house.store.runs.list({}, { limit: runsListed })
  const known = new Map([...began.items, ...newest.items].map((record) => [record.runId, record]))
  const records = [...known.values()].sort((a, b) => b.startedAt - a.startedAt)
  const readable = records.filter(({ nodeCount }) => nodeCount <= maxNodesRead).slice(0, runsListed)
  const runs: AgentActivity['runs'] = []
  const steps: AgentStep[] = []
  let read = 0
  for (const record of readable) {
    if (read >= runsRead) break
    if (!(await mayHave(house, record, agent))) continue
    read += 1
    const found = await house.book.read(record.runId, (run) => partOf(run, record, agent))
    if (!found) continue
    runs.push({ ...runRowOf(record), part: found.part })
    steps.push(...found.steps)
  }
  const isMore = newest.next !== undefined || began.next !== undefined || read >= runsRead
  const last = steps.sort((a, b) => (b.at ?? 0) - (a.at ?? 0)).slice(0, stepsShown)
  return { steps: last, runs, more: isMore || steps.length > stepsShown }
}

/** What the workflow alone can tell: it names the agent, offers tasks to any, or is driven by agents. */
async function mayHave(
  house: Installation,
  { version, startedBy }: RunRecord,
  agent: string,
): Promise<boolean> {
  if (startedBy === `agent:${agent}`) return true
  const { graph } = await house.graphOf(version)
  if (graph.reported) return true
  return graph.nodes.some(({ kind, config }) => kind === 'task' || config.agent === agent)
}

function partOf(run: Run, record: RunRecord, agent: string) {
  const part =
    run.start?.by === `agent:${agent}` ? 'began' : run.reported?.agents.has(agent) ? 'reports' : 'works'
  const steps = stepsOf(run, record.runId, record.workflowName, agent)
  if (steps.length === 0 && !(part !== 'works' && belongs(run, agent))) return undefined
  return { part, steps } as const
}

function stepsOf(run: Run, runId: RunId, workflow: string, agent: string): AgentStep[] {
  const steps: AgentStep[] = []
  for (const [node, current] of run.visits) {
    const { config } = run.graph.nodes.get(node) ?? {}
    if (config?.agent !== agent && !run.claimants.get(node)?.has(agent)) continue
    for (const visit of [...(run.past.get(node) ?? []), current]) {
      if (visit.state.status === 'pending') continue
      steps.push({
        run: runId,
        workflow,
        node,
        visit: visit.visit,
        label: labelOf(run.graph, node),
        ...shownOf(visit),
      })
    }
  }
  return steps
}

function shownOf(visit: Visit): Pick<AgentStep, 'shown' | 'word' | 'at'> {
  const { shown, word } = visitShown(visit)
  const at = visit.startedAt ?? ('since' in visit.state ? visit.state.since : undefined)
  return { shown, word, ...(at !== undefined && { at }) }
}
