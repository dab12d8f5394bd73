'use client'
import type { ReactNode } from 'react'
import { CopyId } from '@/components/ui/copy-id'
import { Fact, Facts, Sub } from '@/components/ui/facts'
import { NoUndoTag } from '@/components/ui/tag'
import type { Json } from '@/lib/base/json'
import { isJsonObject } from '@/lib/base/json'
import { nodeKind } from '@/lib/nodes/registry'
import { count, duration } from '@/lib/ui/format-time'
import { consequenceOf } from '@/lib/view/frame'
import { plainActor } from '@/lib/view/plain-words'
import type { WorkflowDetail } from '@/lib/view/workflow-wire'
import type { GraphEdge, GraphNode, Retry, Silence } from '@/lib/workflow/graph'
import { nodeLabel } from '@/lib/workflow/graph-index'
import { containedLines, containmentLines } from './contained-words'
import { DeclaredBox } from './declared-box'
import { PackLists } from './pack-lists'
import { PolicyBox } from './policy-box'
import { toolLines } from './tool-words'
import { ToolsBox } from './tools-box'

/** Beside the graph: the selected step as its author wrote it, or the workflow itself. */
export function StepFacts({ workflow, node }: { workflow: WorkflowDetail; node: string | undefined }) {
  const step = workflow.graph.nodes.find(({ id }) => id === node)
  return (
    <aside
      aria-label={step ? nodeLabel(step) : 'Workflow'}
      className="min-h-0 min-w-0 overflow-y-auto max-md:flex-1"
    >
      <div className="flex min-h-10 items-center gap-2 border-b px-4">
        <h2 className="truncate">{step ? nodeLabel(step) : 'Workflow'}</h2>
        {step && step.label !== '' && step.label !== step.id && (
          <span className="mono truncate text-ink-3">{step.id}</span>
        )}
      </div>
      <div className="px-4 py-2">
        {step ? <Step node={step} edges={workflow.graph.edges} /> : <Whole workflow={workflow} />}
        {!step && <ToolsBox workflow={workflow} />}
        {!step && <PackLists graph={workflow.graph} />}
        {!step && <DeclaredBox graph={workflow.graph} />}
        {!step && <PolicyBox workflow={workflow} />}
      </div>
    </aside>
  )
}

function Whole({ workflow }: { workflow: WorkflowDetail }) {
  const { graph } = workflow
  const held = graph.nodes.filter(asksPerson).length
  const forGood = graph.nodes.filter((node) => consequenceOf(node) === 'irreversible').length
  const lasting = toolLines(graph).filter(({ isIrreversible }) => isIrreversible).length
  return (
    <Facts label={96}>
      {workflow.description && <Fact label="About">{workflow.description}</Fact>}
      <Fact label="Steps">
        {count(graph.nodes.length, 'step')}, {count(graph.edges.length, 'edge')}.
      </Fact>
      <Fact label="Held">
        {held === 0 ? 'None asks a person.' : `${count(held, 'step asks', 'steps ask')} a person.`}
      </Fact>
      <Fact label="For good">
        {forGood > 0 && `${count(forGood, 'step')} cannot be undone. `}
        {lasting > 0 && `What ${count(lasting, 'tool does', 'tools do')} cannot be undone.`}
        {forGood + lasting === 0 && 'Every step can be taken back.'}
      </Fact>
      {containmentLines(graph.containment).map(({ label, text }) => (
        <Fact key={label} label={label}>
          {text}
        </Fact>
      ))}
      <Fact label="Format">
        <span className="mono">{workflow.format}</span>{' '}
        <Sub>
          <span className="mono">{workflow.mediaType}</span>
        </Sub>
      </Fact>
      <Fact label="Version">
        <CopyId id={workflow.version} what="version" />{' '}
        <Sub>imported by {plainActor(workflow.importedBy)}</Sub>
      </Fact>
    </Facts>
  )
}

/** One step as its author wrote it. */
export function Step({ node, edges }: { node: GraphNode; edges: readonly GraphEdge[] }) {
  const ways = edges.filter(({ from }) => from === node.id)
  const retry = node.retry && retryWords(node.retry, node.extra.retry)
  const kind = nodeKind(node.kind)
  const consequence = consequenceOf(node)
  return (
    <>
      <Facts label={96}>
        <Fact label="Does">
          {kind ? kind.title : <span className="mono">{node.kind}</span>}. {kind && <Sub>{kind.summary}</Sub>}
        </Fact>
        <Fact label="Undo">
          {consequence === 'irreversible' ? (
            <NoUndoTag />
          ) : consequence === 'read_only' ? (
            'Not needed: it only reads.'
          ) : (
            (kind?.checkpoint?.undo ?? 'It can be taken back.')
          )}
        </Fact>
        <Fact label="Asks">{approvalWords(node)}</Fact>
        <Fact label="Time">
          {duration((node.timeoutS ?? kind?.timeoutS ?? 0) * 1000)} an attempt. {retry && <Sub>{retry}</Sub>}
        </Fact>
        {ways.some(({ when, maxIterations }) => when !== undefined || maxIterations !== undefined) && (
          <Fact label="Then">
            {ways.map((edge) => (
              <span key={`${edge.to} ${edge.when ?? ''}`} className="block">
                {wayWords(edge)}
              </span>
            ))}
          </Fact>
        )}
        {node.maxVisits !== undefined && (
          <Fact label="Entries">
            At most {count(node.maxVisits, 'visit')},{' '}
            {node.onMaxVisits === undefined
              ? 'then the run ends, budget-exhausted.'
              : `then ${node.onMaxVisits} instead.`}
          </Fact>
        )}
        {node.priority !== 'normal' && <Fact label="Priority">{node.priority}</Fact>}
        {containedLines(node).map(({ label, text }) => (
          <Fact key={label} label={label}>
            {text}
          </Fact>
        ))}
      </Facts>
      <Config node={node} />
    </>
  )
}

/** True when the run waits at this step for a person: before it by the author's wish, or because waiting is all it does. */
export function asksPerson(node: GraphNode): boolean {
  return node.approval !== undefined || node.kind === 'pause_for_approval' || node.kind === 'await_event'
}

/** Longer than this a member of the config is a text of its own. */
const shortValue = 80

/** The step's config under the names its kind gives the members; long texts as they were written. */
function Config({ node }: { node: GraphNode }) {
  const members = Object.entries(node.config)
  if (members.length === 0) return null
  const words: Record<string, { label: string; help: string } | undefined> = nodeKind(node.kind)?.fields ?? {}
  const said = members.map(([name, value]) => ({
    name,
    label: words[name]?.label ?? name,
    help: words[name]?.help,
    text: typeof value === 'string' ? value : JSON.stringify(value, null, isLong(value) ? 2 : 0),
  }))
  return (
    <section aria-label="Config of the step" className="mt-4 border-t pt-3">
      <h3 className="font-medium">As written</h3>
      <dl>
        {said.map(({ name, label, help, text }) => (
          <div key={name} className="py-1.5">
            <dt className="flex items-baseline gap-2" title={help}>
              <span className="text-ink-3">{label}</span>
              <span className="mono text-t1 text-ink-3">{name}</span>
            </dt>
            <dd>
              {text.length <= shortValue && !text.includes('\n') ? (
                <span className="mono [overflow-wrap:anywhere]">{text}</span>
              ) : (
                <section
                  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
                  tabIndex={0}
                  aria-label={label}
                  className="mt-1 max-h-72 overflow-auto rounded-r2 border bg-well px-3 py-2"
                >
                  <pre className="mono leading-5">{text}</pre>
                </section>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

function isLong(value: Json): boolean {
  return JSON.stringify(value).length > shortValue
}

/** Where an edge leads and what takes it: "on “error” to gave_up", "on “true” back to draft, at most 3 times". */
function wayWords({ to, when, maxIterations }: GraphEdge): string {
  const on = when === undefined ? 'When done' : `On “${when}”`
  const bound = maxIterations === undefined ? '' : `, at most ${count(maxIterations, 'time')}`
  return `${on}: ${to}${bound}.`
}

function retryWords({ maxAttempts, baseMs, factor, linear, jitter }: Retry, extra: Json | undefined): string {
  const grows = linear
    ? 'and longer by as much each time'
    : factor === 1
      ? 'each time'
      : `then ${factor} times as long each time`
  const wait = baseMs > 0 ? `, waiting ${duration(baseMs)} ${grows}` : ''
  const chance = baseMs > 0 && jitter > 0 ? ', with some chance' : ''
  const on = isJsonObject(extra ?? null) ? (extra as { on?: unknown }).on : undefined
  const what =
    on === 'any' ? ' after any failure' : on === 'transient' ? ' after what may pass by itself' : ''
  return `Up to ${count(maxAttempts, 'attempt')}${what}${wait}${chance}.`
}

function approvalWords(node: GraphNode): ReactNode {
  const { approval } = node
  if (node.kind === 'await_event' && !approval) {
    const role = typeof node.config.role === 'string' ? node.config.role : 'operator'
    return (
      <>
        {role}. <Sub>It waits for an event from a person, or from another system over the API.</Sub>
      </>
    )
  }
  if (!approval) return asksPerson(node) ? 'A person: it waits until someone lets the run go on.' : 'Nobody.'
  const until =
    approval.deadlineS === undefined ? 'No deadline' : `Within ${duration(approval.deadlineS * 1000)}`
  return (
    <>
      {approval.role}.{' '}
      <Sub>{`${approval.reason}. ${until}; silence: ${silenceWords(approval.onSilence)}.`}</Sub>
    </>
  )
}

function silenceWords(silence: Silence): string {
  if (typeof silence === 'object') return `${silence.escalateTo} is asked`
  const words = {
    hold: 'it stays held',
    deny: 'it is refused',
    rollback: 'the run is rolled back',
    continue: 'it goes on',
  }
  return words[silence]
}
