'use client'
import { ChevronLeft } from 'lucide-react'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { useMemo, useRef, useState } from 'react'
import { Button } from '@/components/ui/button'
import { CopyId } from '@/components/ui/copy-id'
import { Field, Select, Textarea } from '@/components/ui/field'
import { PageHelp } from '@/components/ui/page-help'
import { Segmented } from '@/components/ui/segmented'
import { warnOf } from '@/components/ui/toast'
import type { Json } from '@/lib/base/json'
import { isProblem } from '@/lib/base/problem'
import { isApiProblem, isRefusal, newIdempotencyKey } from '@/lib/ui/api'
import { count } from '@/lib/ui/format-time'
import { links } from '@/lib/ui/links'
import { useStartRun } from '@/lib/ui/workflow-queries'
import { beginsRuns } from '@/lib/view/child-kinds'
import { consequenceOf } from '@/lib/view/frame'
import type { WorkflowDetail } from '@/lib/view/workflow-wire'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { indexGraph, labelOf } from '@/lib/workflow/graph-index'
import { formFields, type InputFault, readInput } from '@/lib/workflow/input-form'
import { unboundTools } from '@/lib/workflow/unbound-tools'
import { InputField } from './input-field'
import { ReadWorkflow } from './read-workflow'
import { asksPerson } from './step-facts'
import { WorkflowGraphView } from './workflow-graph'

/** Asks for what the workflow asks for, and starts a run of that very version. */
export function StartRunPage({ version }: { version: string }) {
  return <ReadWorkflow version={version}>{(workflow) => <StartRun workflow={workflow} />}</ReadWorkflow>
}

type Way = 'form' | 'json'

function StartRun({ workflow }: { workflow: WorkflowDetail }) {
  const router = useRouter()
  const start = useStartRun()
  const { graph } = workflow
  const fields = useMemo(() => formFields(graph), [graph])
  const [way, setWay] = useState<Way>(fields.length > 0 ? 'form' : 'json')
  const [values, setValues] = useState<Record<string, Json | undefined>>(() => defaultsOf(fields))
  const [raw, setRaw] = useState('{}')
  const [dryRun, setDryRun] = useState(false)
  const [from, setFrom] = useState(graph.starts[0]?.name)
  const [faults, setFaults] = useState<InputFault[]>([])
  const attempts = useRef(new Map<string, string>())

  /** The input that the form or the text means; undefined, with its faults on screen, when it means none. */
  function entered(): Json | undefined {
    try {
      return way === 'form' ? readInput(graph, fields, values) : (JSON.parse(raw) as Json)
    } catch (error) {
      if (isProblem(error, 'input_invalid')) setFaults((error.data.faults as InputFault[]) ?? [])
      else
        setFaults([
          {
            path: '',
            message: 'is not JSON; text goes in quotation marks, and nothing follows a last member',
          },
        ])
      return undefined
    }
  }

  async function run() {
    setFaults([])
    const input = entered()
    if (input === undefined) return
    const chosen = graph.starts.length > 1 ? from : undefined
    const intent = JSON.stringify([input, dryRun, chosen])
    const idempotencyKey = attempts.current.get(intent) ?? newIdempotencyKey()
    attempts.current.set(intent, idempotencyKey)
    try {
      const begun = await start.mutateAsync({
        workflow: workflow.version,
        input,
        dryRun,
        start: chosen,
        idempotencyKey,
      })
      router.push(links.run(begun.id))
    } catch (error) {
      // A refusal is not remembered under its key. Without an answer the key stays: a second click starts no second run.
      if (isRefusal(error)) attempts.current.delete(intent)
      if (isApiProblem(error, 'input_invalid')) setFaults((error.data.faults as InputFault[]) ?? [])
      warnOf('No run was started', error)
    }
  }

  const unbound = unboundNote(graph)
  const places = new Set(fields.map((field) => `/${field.path.join('/')}`))
  const homeless = faults.filter((fault) => !places.has(fault.path))
  const faultOf = (path: string) => faults.find((fault) => fault.path === path)
  return (
    <>
      <Head workflow={workflow} />
      <div className="grid min-h-0 flex-1 grid-rows-[minmax(0,1fr)] md:grid-cols-[minmax(360px,520px)_minmax(0,1fr)]">
        <form
          className="min-h-0 overflow-y-auto md:border-r"
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            void run()
          }}
        >
          <div className="flex flex-col gap-4 px-4 py-5">
            <div className="flex items-start gap-4">
              <p className="min-w-0 flex-1 text-ink-2">{whatWillHappen(workflow)}</p>
              {fields.length > 0 && (
                <Segmented
                  label="Input as"
                  value={way}
                  choices={[
                    { value: 'form', word: 'Form' },
                    { value: 'json', word: 'JSON' },
                  ]}
                  onChange={setWay}
                />
              )}
            </div>
            {graph.starts.length > 1 && <StartChoice graph={graph} value={from} onChange={setFrom} />}
            {way === 'form' ? (
              fields.map((field) => (
                <InputField
                  key={field.name}
                  field={field}
                  value={values[field.name]}
                  fault={faultOf(`/${field.path.join('/')}`)?.message}
                  onChange={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
                />
              ))
            ) : (
              <RawInput
                asked={fields.length > 0}
                value={raw}
                onChange={setRaw}
                error={faults.length > 0 ? faultWords(faults) : undefined}
              />
            )}
            {way === 'form' && homeless.length > 0 && (
              <p role="alert" className="text-failed-ink">
                {faultWords(homeless)}
              </p>
            )}
            <DryRunChoice value={dryRun} onChange={setDryRun} />
            {unbound && <Unbound version={workflow.version} words={unbound} />}
            <div>
              <Button
                type="submit"
                variant="primary"
                wraps
                busy={start.isPending}
                disabled={unbound !== undefined}
                className="max-md:w-full"
              >
                <span>
                  {dryRun ? 'Dry-run' : 'Run'} {workflow.name}
                </span>
              </Button>
            </div>
          </div>
        </form>
        <div className="min-h-0 min-w-0 max-md:hidden">
          <WorkflowGraphView graph={graph} />
        </div>
      </div>
    </>
  )
}

function Head({ workflow }: { workflow: WorkflowDetail }) {
  return (
    <div className="flex min-h-11 shrink-0 items-center gap-3 whitespace-nowrap border-b px-4">
      <Link
        href={links.workflow(workflow.version)}
        className="-ml-1 flex min-w-0 items-center gap-1 rounded-r1 text-ink-3 hover:text-ink max-md:h-11"
      >
        <ChevronLeft size={16} strokeWidth={1.5} aria-hidden="true" className="shrink-0" />
        <span className="truncate">{workflow.name}</span>
      </Link>
      <h1 className="font-medium">Run</h1>
      <CopyId id={workflow.version} what="version" className="text-ink-3 max-md:hidden" />
      <span className="flex-1" />
      <span className="max-md:hidden">
        <PageHelp page="Run a workflow">
          Starts a run of this very version. A dry run walks the same steps but touches nothing outside: it
          makes no request at all, not even a GET, and holds for nobody’s approval. A step that would read an
          answer or a file gets a stand-in, so what follows from it may differ from a real run.
        </PageHelp>
      </span>
    </div>
  )
}

/** Where the run begins, of a workflow with several starts. */
function StartChoice({
  graph,
  value,
  onChange,
}: {
  graph: WorkflowGraph
  value: string | undefined
  onChange: (start: string) => void
}) {
  return (
    <Field label="Start" help={startHelp(graph, value)}>
      {(ids) => (
        <Select {...ids} value={value} onChange={(event) => onChange(event.target.value)}>
          {graph.starts.map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </Select>
      )}
    </Field>
  )
}

/** The whole input as a text. `asked`: the workflow asks for something in particular. */
function RawInput({
  asked,
  value,
  onChange,
  error,
}: {
  asked: boolean
  value: string
  onChange: (text: string) => void
  error: string | undefined
}) {
  return (
    <Field
      label="Input, as JSON"
      help={asked ? undefined : 'This workflow asks for nothing in particular; its steps get this as it is.'}
      error={error}
    >
      {(ids) => (
        <Textarea
          {...ids}
          spellCheck={false}
          className="mono min-h-40 leading-5"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}

function DryRunChoice({ value, onChange }: { value: boolean; onChange: (dryRun: boolean) => void }) {
  return (
    <label className="flex items-start gap-2 max-md:min-h-12">
      <input
        type="checkbox"
        checked={value}
        onChange={(event) => onChange(event.target.checked)}
        className="mt-0.5 size-4 accent-ink"
      />
      <span>
        Dry run{' '}
        <span className="text-ink-3">
          Nothing outside is touched: no request is made, not even a GET. Steps that read an answer get a
          stand-in.
        </span>
      </span>
    </label>
  )
}

function Unbound({ version, words }: { version: string; words: string }) {
  return (
    <p role="note" className="rounded-r2 border px-3 py-2">
      <b>No run can begin.</b> {words}{' '}
      <Link href={links.workflow(version)} className="underline decoration-line-strong underline-offset-4">
        Bind its tools
      </Link>
    </p>
  )
}

function defaultsOf(fields: ReturnType<typeof formFields>): Record<string, Json | undefined> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      if (field.default === undefined) return []
      const text = field.type === 'json' ? JSON.stringify(field.default, null, 2) : field.default
      return [[field.name, text]]
    }),
  )
}

function faultWords(faults: readonly InputFault[]): string {
  return faults
    .map(({ path, message }) => `${path === '' ? 'The input' : `“${path.slice(1)}”`} ${message}.`)
    .join(' ')
}

/** Which tools nothing runs, for people on this page; undefined when every tool is bound. */
function unboundNote(graph: WorkflowGraph): string | undefined {
  const tools = unboundTools(graph)
  if (tools.length === 0) return undefined
  const named = tools.map(({ tool, states }) => `“${tool}” (used by ${states.join(', ')})`)
  return tools.length === 1
    ? `The tool ${named[0]} is bound to nothing.`
    : `The tools ${named.join(', ')} are bound to nothing.`
}

/** Where a start begins, and what is meant to begin there; a person may begin anywhere. */
function startHelp(graph: WorkflowGraph, chosen: string | undefined): string {
  const start = graph.starts.find(({ name }) => name === chosen)
  if (!start) return ''
  const label = labelOf(indexGraph(graph), start.node)
  const meant = { manual: '', http: ', as a request would', event: ', as an event would' }
  return `Begins at ${label}${meant[start.source ?? 'manual']}.`
}

function whatWillHappen({ graph }: WorkflowDetail): string {
  if (graph.order === 'stepwise') return walkWords(graph)
  const held = graph.nodes.filter(asksPerson).length
  const forGood = graph.nodes.filter((node) => consequenceOf(node) === 'irreversible').length
  const parts = [`Runs ${count(graph.nodes.length, 'step')}`]
  if (held > 0) parts.push(`asks a person at ${held}`)
  if (forGood > 0) parts.push(`${forGood} of them cannot be undone`)
  return `${parts.join(', ')}.`
}

/** A walk does not do every step, so what it may meet is said as that. */
function walkWords(graph: WorkflowGraph): string {
  const held = graph.nodes.filter(asksPerson).length
  const forGood = graph.nodes.filter((node) => consequenceOf(node) === 'irreversible').length
  const turns = graph.nodes.filter(({ kind }) => kind === 'prompt_state').length
  const below = graph.nodes.filter(({ kind }) => beginsRuns(kind)).length - turns
  const may = [
    ...(turns > 0 ? [`asks a model at ${turns}`] : []),
    ...(held > 0 ? [`waits for a person at ${held}`] : []),
    ...(below > 0 ? [`begins other runs at ${below}`] : []),
    ...(forGood > 0 ? [`cannot be undone at ${forGood}`] : []),
  ]
  const parts = may.join(', ')
  const ways = `${count(graph.nodes.length, 'step')}, one at a time`
  return may.length === 0 ? `${ways}.` : `${ways}. It ${parts}, if it comes that way.`
}
