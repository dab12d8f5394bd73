'use client'
/*
 * A workflow from a goal: a model plans it, a person reads the plan and approves that very one, or does not. A plan is
 * drawn like any workflow, with what it would do to the world said first; until it is approved nothing can run it.
 */
import { useRouter, useSearchParams } from 'next/navigation'
import { useRef, useState } from 'react'
import { LiveTime } from '@/components/run-graph/graph-node'
import { Button } from '@/components/ui/button'
import { CopyId } from '@/components/ui/copy-id'
import { ErrorNote } from '@/components/ui/error-note'
import { Fact, Facts, Sub } from '@/components/ui/facts'
import { Field, Select, Textarea } from '@/components/ui/field'
import { NoUndoIcon } from '@/components/ui/icons'
import { PageHelp } from '@/components/ui/page-help'
import { Segmented } from '@/components/ui/segmented'
import { Skeleton } from '@/components/ui/skeleton'
import { StateMark } from '@/components/ui/state'
import { warnOf } from '@/components/ui/toast'
import { satisfies } from '@/lib/hitl/roles'
import { isRefusal, newIdempotencyKey, sentenceOf } from '@/lib/ui/api'
import { count } from '@/lib/ui/format-time'
import { links } from '@/lib/ui/links'
import { useApprovePlan, usePlan, usePlanChoices, usePlanGoal } from '@/lib/ui/plan-queries'
import { useMe } from '@/lib/ui/queries'
import { consequenceOf } from '@/lib/view/frame'
import type { PlanView } from '@/lib/view/workflow-wire'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { nodeLabel } from '@/lib/workflow/graph-index'
import { useMayNotImport } from './author-role'
import { DiagnosticList } from './diagnostic-list'
import { policyLines } from './policy-words'
import { SourceEditor } from './source-editor'
import { asksPerson, Step } from './step-facts'
import { ToWorkflows } from './to-workflows'
import { WorkflowGraphView } from './workflow-graph'

/** `?version=` and `?plan=` name a plan that was made before; without them a goal is asked for. */
export function PlanPage() {
  const search = useSearchParams()
  const made = usePlan(search.get('version') ?? undefined, search.get('plan') ?? undefined)
  const planning = usePlanGoal()
  // The plan that is on screen: the one just made, or the one the address names.
  const refused = planning.data && !planning.data.graph ? planning.data : undefined
  const plan = made.data
  return (
    <>
      <div className="flex min-h-11 shrink-0 items-center gap-3 whitespace-nowrap border-b px-4">
        <ToWorkflows />
        <h1 className="font-medium">Plan from a goal</h1>
        {plan?.version && <CopyId id={plan.version} what="version" className="text-ink-3 max-md:hidden" />}
        <span className="flex-1" />
        <span className="max-md:hidden">
          <PageHelp page="Plan from a goal">
            A model plans steps and nothing else: what they may touch comes from the configuration you choose.
            The plan runs only after a person has approved that very plan, by its hash.
          </PageHelp>
        </span>
      </div>
      {made.isError ? (
        <ErrorNote
          title="This plan could not be read"
          error={made.error}
          means="Nothing was run. Plan it again from its goal."
        />
      ) : search.get('plan') !== null ? (
        plan?.graph ? (
          <Planned key={plan.plan} plan={plan} graph={plan.graph} />
        ) : (
          <Skeleton what="the plan" lines={6} />
        )
      ) : (
        <Goal planning={planning} refused={refused} />
      )}
    </>
  )
}

function Goal({
  planning,
  refused,
}: {
  planning: ReturnType<typeof usePlanGoal>
  refused: PlanView | undefined
}) {
  const router = useRouter()
  const mayNot = useMayNotImport()
  const choices = usePlanChoices().data
  const [goal, setGoal] = useState('')
  const [configuration, setConfiguration] = useState('')
  const [backend, setBackend] = useState('')
  const [since, setSince] = useState(0)
  const given = choices?.configurations.find(({ version }) => version === configuration)
  const backends = [...new Set([...(given?.backends ?? []), ...(choices?.backends ?? [])])]
  const none = choices !== undefined && backends.length === 0
  async function plan() {
    setSince(Date.now())
    const made = await planning
      .mutateAsync({ goal, backend: backend || undefined, configuration: configuration || undefined })
      .catch(() => undefined)
    if (made?.version) router.push(links.workflowPlan({ version: made.version, plan: made.plan }))
  }
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <form
        className="flex max-w-[640px] flex-col gap-4 px-4 py-5"
        onSubmit={(event) => {
          event.preventDefault()
          if (goal.trim() !== '' && !mayNot) void plan()
        }}
      >
        <Field
          label="Goal"
          help="What should be done, in your own words. The model is asked at most three times; nothing is run."
        >
          {(ids) => (
            <Textarea
              {...ids}
              className="min-h-32"
              maxLength={16_384}
              value={goal}
              onChange={(event) => setGoal(event.target.value)}
            />
          )}
        </Field>
        <Field
          label="Under the policy of"
          help="Policy, models, secrets and budget come from this workflow. Without one, a plan may touch nothing outside."
        >
          {(ids) => (
            <Select {...ids} value={configuration} onChange={(event) => setConfiguration(event.target.value)}>
              <option value="">No workflow: nothing outside is allowed</option>
              {(choices?.configurations ?? []).map(({ version, name }) => (
                <option key={version} value={version}>
                  {name}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field
          label="Planned by"
          error={
            none
              ? 'There is no model. Name one in models.json in the data folder, or choose a workflow that brings one.'
              : undefined
          }
        >
          {(ids) => (
            <Select {...ids} value={backend} onChange={(event) => setBackend(event.target.value)}>
              <option value="">{backends.length > 0 ? 'The default model' : 'No model'}</option>
              {backends.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <div className="flex items-center gap-3 max-md:flex-col max-md:items-stretch">
          <Button
            type="submit"
            variant="primary"
            busy={planning.isPending}
            disabled={goal.trim() === '' || none || mayNot !== undefined}
          >
            Plan a workflow
          </Button>
          {planning.isPending && (
            <span role="status" className="text-ink-2">
              <StateMark state="running">
                asking the model, <LiveTime time={{ since }} />
              </StateMark>
            </span>
          )}
          {mayNot && <span className="text-ink-3">{mayNot}</span>}
        </div>
        {planning.isError && (
          <p role="alert" className="text-failed-ink">
            {sentenceOf(planning.error)}
          </p>
        )}
      </form>
      {refused && !planning.isPending && <Refused plan={refused} />}
    </div>
  )
}

/** Three answers and no plan among them: the last one, and what is wrong with it. */
function Refused({ plan }: { plan: PlanView }) {
  return (
    <section aria-label="No plan" className="border-t">
      <div className="px-4 py-3">
        <h2 className="font-medium text-failed-ink">
          No plan came of it: {count(plan.attempts, 'answer')} of the model could not be used
        </h2>
        <p className="text-ink-2">
          This is the last one, with what is wrong with it. State the goal in other words, or more closely.
        </p>
      </div>
      <DiagnosticList diagnostics={plan.diagnostics} onGoTo={() => {}} />
      <div className="h-72 border-t">
        <SourceEditor text={plan.text} diagnostics={plan.diagnostics} label="The model’s last answer" />
      </div>
    </section>
  )
}

function Planned({ plan, graph }: { plan: PlanView; graph: WorkflowGraph }) {
  const router = useRouter()
  const me = useMe().data
  const approve = useApprovePlan()
  const [show, setShow] = useState<'graph' | 'source'>('graph')
  const [node, setNode] = useState<string>()
  const key = useRef(newIdempotencyKey())
  const step = graph.nodes.find(({ id }) => id === node)
  const missing = me ? ['author', 'operator'].filter((role) => !satisfies(me.roles, role)) : []
  async function take() {
    try {
      const { plan: hash, version = '' } = plan
      const stored = await approve.mutateAsync({ version, plan: hash, idempotencyKey: key.current })
      router.push(links.workflowRun(stored.version))
    } catch (error) {
      if (isRefusal(error)) key.current = newIdempotencyKey()
      warnOf('The plan was not approved', error)
    }
  }
  return (
    <div className="grid min-h-0 flex-1 grid-cols-[minmax(0,1fr)_var(--inspector)] grid-rows-[minmax(0,1fr)] max-md:flex max-md:flex-col max-md:overflow-y-auto">
      <div className="flex min-h-0 min-w-0 flex-col border-r max-md:h-72 max-md:shrink-0 max-md:border-b max-md:border-r-0">
        <div className="flex min-h-10 shrink-0 items-center border-b px-4 max-md:py-1">
          <Segmented
            label="Show the plan as"
            value={show}
            choices={[
              { value: 'graph', word: 'Graph' },
              { value: 'source', word: 'Text' },
            ]}
            onChange={setShow}
          />
        </div>
        <div className="min-h-0 flex-1">
          {show === 'graph' ? (
            <WorkflowGraphView graph={graph} selected={node} onSelect={setNode} marksConsequences />
          ) : (
            <SourceEditor text={plan.text} diagnostics={plan.diagnostics} label="Text of the plan" />
          )}
        </div>
      </div>
      <aside aria-label="Plan" className="min-h-0 overflow-y-auto px-4 pb-6 pt-5 max-md:overflow-visible">
        <ForGood graph={graph} />
        <h2 className="text-balance text-t3 tracking-[-0.01em]">{planWords(graph)}</h2>
        <p className="mb-3 mt-2 text-ink-2 [overflow-wrap:anywhere]">“{plan.goal}”</p>
        <Facts label={96}>
          <Fact label="Name">{graph.name}</Fact>
          {policyLines(graph).map(({ label, rules, words }) => (
            <Fact key={label} label={label}>
              {rules.map((rule) => (
                <span key={rule} className="mono block">
                  {rule}
                </span>
              ))}
              {words}
            </Fact>
          ))}
          <Fact label="Hash">
            <CopyId id={plan.version ?? ''} what="version" /> <Sub>Approved is this and nothing else.</Sub>
          </Fact>
          <Fact label="Planned">
            {count(plan.attempts, 'answer')} of the model.{' '}
            {plan.attempts > 1 && <Sub>Those before were refused, and it was told why.</Sub>}
          </Fact>
        </Facts>
        {plan.diagnostics.length > 0 && (
          <div className="-mx-4 mt-2">
            <DiagnosticList diagnostics={plan.diagnostics} onGoTo={() => setShow('source')} />
          </div>
        )}
        <div className="mt-4 flex flex-wrap gap-2 max-md:grid">
          <Button
            variant="primary"
            wraps
            busy={approve.isPending}
            disabled={missing.length > 0}
            onClick={() => void take()}
          >
            Approve this plan
          </Button>
          <Button wraps onClick={() => router.push(links.workflowPlan())}>
            Discard it
          </Button>
        </div>
        <p className="mt-2 text-t1 text-ink-3">
          {missing.length > 0
            ? `Approving takes the roles author and operator; you lack ${missing.join(' and ')}.`
            : 'Approving imports this version under your name and opens its start page. Nothing is run yet.'}
        </p>
        {step && (
          <section aria-label={`Step ${nodeLabel(step)}`} className="mt-5 border-t pt-3">
            <h3 className="font-medium">{nodeLabel(step)}</h3>
            <Step node={step} edges={graph.edges} />
          </section>
        )}
      </aside>
    </div>
  )
}

/** What cannot be taken back comes before everything else. */
function ForGood({ graph }: { graph: WorkflowGraph }) {
  const steps = graph.nodes.filter((node) => consequenceOf(node) === 'irreversible')
  if (steps.length === 0) return null
  return (
    <p
      role="note"
      className="mb-3 flex gap-2 rounded-r2 border border-failed-line bg-failed-wash px-3 py-2 text-failed-ink"
    >
      <NoUndoIcon className="mt-0.5 shrink-0 text-failed-mark" />
      <span className="min-w-0">
        What {steps.map(nodeLabel).join(', ')} {steps.length === 1 ? 'does' : 'do'} cannot be undone.
      </span>
    </p>
  )
}

/** What the plan would do: "5 steps: 2 change something, 1 waits for a person." */
function planWords(graph: WorkflowGraph): string {
  const changes = graph.nodes.filter((node) => consequenceOf(node) !== 'read_only').length
  const held = graph.nodes.filter(asksPerson).length
  const parts = [
    changes === 0 ? 'none changes anything outside' : `${changes} may change something outside`,
    ...(held > 0 ? [`${held} ${held === 1 ? 'waits' : 'wait'} for a person`] : []),
  ]
  return `${count(graph.nodes.length, 'step')}: ${parts.join(', ')}.`
}
