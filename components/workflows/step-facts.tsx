'use client'
import type { ReactNode } from 'react'
import { CopyId } from '@/components/ui/copy-id'
import { Fact, Facts, Sub } from '@/components/ui/facts'
import { NoUndoTag } from '@/components/ui/tag'
import { nodeKind } from '@/lib/nodes/registry'
import { count, duration } from '@/lib/ui/format-time'
import { consequenceOf, plainActor } from '@/lib/view/frame'
import type { WorkflowDetail } from '@/lib/view/wire'
import type { GraphNode, Silence } from '@/lib/workflow/graph'
import { PolicyBox } from './policy-box'

/** Beside the graph: the selected step as its author wrote it, or the workflow itself. */
export function StepFacts({ workflow, node }: { workflow: WorkflowDetail; node: string | undefined }) {
  const step = workflow.graph.nodes.find(({ id }) => id === node)
  return (
    <aside
      aria-label={step ? step.label || step.id : 'Workflow'}
      className="min-h-0 min-w-0 overflow-y-auto max-md:flex-1"
    >
      <div className="flex min-h-10 items-center gap-2 border-b px-4">
        <h2 className="truncate">{step ? step.label || step.id : 'Workflow'}</h2>
        {step && <span className="mono truncate text-ink-3">{step.id}</span>}
      </div>
      <div className="px-4 py-2">
        {step ? <Step node={step} /> : <Whole workflow={workflow} />}
        {!step && <PolicyBox workflow={workflow} />}
      </div>
    </aside>
  )
}

function Whole({ workflow }: { workflow: WorkflowDetail }) {
  const { graph } = workflow
  const held = graph.nodes.filter(asksPerson).length
  const forGood = graph.nodes.filter((node) => consequenceOf(node) === 'irreversible').length
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
        {forGood === 0 ? 'Every step can be taken back.' : `${count(forGood, 'step')} cannot be undone.`}
      </Fact>
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

function Step({ node }: { node: GraphNode }) {
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
          {duration((node.timeoutS ?? kind?.timeoutS ?? 0) * 1000)} an attempt.{' '}
          {node.retry && <Sub>Up to {count(node.retry.maxAttempts, 'attempt')}.</Sub>}
        </Fact>
        <Fact label="Priority">{node.priority}</Fact>
      </Facts>
      {Object.keys(node.config).length > 0 && (
        <section
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
          tabIndex={0}
          aria-label="Config of the step"
          className="mt-2 overflow-x-auto rounded-r2 border bg-well px-3 py-2"
        >
          <pre className="mono leading-5">{JSON.stringify(node.config, null, 2)}</pre>
        </section>
      )}
    </>
  )
}

/** True when the run waits at this step for a person: before it by the author's wish, or because waiting is all it does. */
export function asksPerson(node: GraphNode): boolean {
  return node.approval !== undefined || node.kind === 'pause_for_approval'
}

function approvalWords(node: GraphNode): ReactNode {
  const { approval } = node
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
