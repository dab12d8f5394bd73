'use client'
/*
 * Bringing a workflow: by file, by paste, by dropping it anywhere on the page. The text is checked as it is typed; all
 * faults show at once with their places, and the graph is drawn as soon as it can be read. Nothing is stored before the
 * button is pressed, and not at all while an error stands.
 */
import { useRouter } from 'next/navigation'
import { type DragEvent, useEffect, useRef, useState } from 'react'
import { Button } from '@/components/ui/button'
import { cx } from '@/components/ui/cx'
import { EmptyState } from '@/components/ui/empty-state'
import { ErrorNote } from '@/components/ui/error-note'
import { PageHelp } from '@/components/ui/page-help'
import { StateMark } from '@/components/ui/state'
import { Tag } from '@/components/ui/tag'
import { type ToastId, tell, untell, warn, warnOf } from '@/components/ui/toast'
import type { Diagnostic } from '@/lib/base/diagnostic'
import { isApiProblem } from '@/lib/ui/api'
import { links } from '@/lib/ui/links'
import { useSettled } from '@/lib/ui/settled'
import { useImport, useValidation } from '@/lib/ui/workflow-queries'
import type { Format, WorkflowGraph } from '@/lib/workflow/graph'
import { useMayNotImport } from './author-role'
import { DiagnosticCounts, DiagnosticList } from './diagnostic-list'
import { exampleText } from './example-text'
import { SourceEditor, type SourceEditorHandle } from './source-editor'
import { ToWorkflows } from './to-workflows'
import { WorkflowGraphView } from './workflow-graph'

/** Typing pauses this long before the text is checked. */
const quietMs = 300
/** Larger files are refused here, before the browser holds them as text; the server has the same bound. */
const maxFileBytes = 8 * 1024 * 1024

const noFaults: Diagnostic[] = []

export function ImportPage() {
  const router = useRouter()
  const [text, setText] = useState('')
  const [filename, setFilename] = useState<string>()
  const settled = useSettled(text, quietMs)
  const validation = useValidation(settled, filename)
  const bring = useImport()
  const editor = useRef<SourceEditorHandle>(null)
  const refused = useRef<ToastId>(undefined)
  const [taken, setTaken] = useState(0)
  useEffect(() => {
    // The editor has the text by now: the caret goes to its beginning, and nothing of it is left selected.
    if (taken > 0) editor.current?.goTo(1, 1)
  }, [taken])
  const { over, drop } = useDrop(take)
  const mayNot = useMayNotImport()
  const empty = text.trim() === ''
  const diagnostics = empty ? noFaults : (validation.data?.diagnostics ?? noFaults)
  const checking = !empty && (settled !== text || validation.isFetching)
  const errors = hasErrors(diagnostics)
  const graph = empty ? undefined : validation.data?.graph
  const ready = !empty && !checking && !errors && graph !== undefined

  async function take(file: File | undefined) {
    if (!file) return
    if (refused.current !== undefined) untell(refused.current)
    if (file.size > maxFileBytes) {
      refused.current = warn(
        `${file.name} was not read`,
        `It has ${(file.size / 1e6).toFixed(1)} MB; a workflow has at most ${maxFileBytes / 1024 / 1024} MB.`,
      )
      return
    }
    setFilename(file.name)
    setText(await file.text())
    setTaken((count) => count + 1)
  }

  async function publish() {
    try {
      const { stored, isNew } = await bring.mutateAsync({ text, filename })
      tell(
        isNew ? `${stored.name} is imported` : 'This version is here already',
        isNew ? {} : { detail: stored.name },
      )
      router.push(links.workflow(stored.version))
    } catch (error) {
      if (isApiProblem(error, 'workflow_invalid')) await validation.refetch()
      warnOf('Nothing was imported', error)
    }
  }

  return (
    <section
      aria-label="Import a workflow"
      className={cx('flex min-h-0 flex-1 flex-col', over && 'outline-2 -outline-offset-2 outline-ink')}
      {...drop}
    >
      <div className="flex min-h-11 shrink-0 items-center gap-3 whitespace-nowrap border-b px-4 max-md:flex-wrap max-md:py-2">
        <ToWorkflows />
        <h1 className="font-medium">{graph?.name ?? 'Import a workflow'}</h1>
        {graph && <Tag>{formatNames[graph.format]}</Tag>}
        {filename && <span className="mono truncate text-ink-3">{filename}</span>}
        <span className="flex-1" />
        <span role="status" className="flex items-center gap-3">
          {checking ? (
            <StateMark state="running">checking</StateMark>
          ) : (
            <DiagnosticCounts diagnostics={diagnostics} />
          )}
          {ready && diagnostics.length === 0 && <StateMark state="done">no faults</StateMark>}
        </span>
        <ChooseFile onFile={(file) => void take(file)} />
        <Button
          size="sm"
          variant="primary"
          disabled={!ready || mayNot !== undefined}
          title={mayNot}
          busy={bring.isPending}
          onClick={() => void publish()}
        >
          {graph ? `Import ${shortened(graph.name)}` : 'Import'}
        </Button>
        <span className="max-md:hidden">
          <PageHelp page="Import">
            The text is checked as you type and drawn as soon as it can be read. Nothing is stored before you
            import it. A text with the name of a workflow you have becomes its newest version.
          </PageHelp>
        </span>
      </div>
      {mayNot && (
        <p role="note" className="border-b px-4 py-2.5 text-ink-2">
          <b>You cannot import.</b> {mayNot} What you paste is checked and drawn all the same.
        </p>
      )}
      {validation.isError && !validation.data && (
        <ErrorNote
          title="The text could not be checked"
          error={validation.error}
          means="It stays here."
          onRetry={() => void validation.refetch()}
        />
      )}
      <div className="grid min-h-0 flex-1 grid-cols-2 grid-rows-[minmax(0,1fr)] max-md:flex max-md:flex-col">
        <div className="min-h-0 min-w-0 border-r max-md:h-[40dvh] max-md:border-b max-md:border-r-0">
          <SourceEditor
            ref={editor}
            text={text}
            onChange={setText}
            diagnostics={diagnostics}
            label="Text of the workflow"
          />
        </div>
        <div className="flex min-h-0 min-w-0 flex-col max-md:flex-1">
          {empty ? (
            <EmptyState
              title="Paste the text, or drop a file"
              action={<Button onClick={() => setText(exampleText)}>Begin with an example</Button>}
            >
              An ATD descriptor in JSON, an agentd workflow in TOML, or a PromptPack in YAML or JSON. It is
              checked as you type, and drawn here as soon as it can be read.
            </EmptyState>
          ) : (
            <Checked
              graph={graph}
              diagnostics={diagnostics}
              checking={checking}
              onGoTo={(line, column) => editor.current?.goTo(line, column)}
            />
          )}
        </div>
      </div>
    </section>
  )
}

/** What the text came to: its graph, and what is wrong with it. */
function Checked({
  graph,
  diagnostics,
  checking,
  onGoTo,
}: {
  graph: WorkflowGraph | undefined
  diagnostics: Diagnostic[]
  checking: boolean
  onGoTo: (line: number, column: number) => void
}) {
  const errors = hasErrors(diagnostics)
  return (
    <>
      <div className="min-h-40 flex-1">
        {graph ? (
          <WorkflowGraphView graph={graph} />
        ) : (
          <p className="grid h-full place-items-center bg-canvas p-8 text-center text-ink-3">
            {checking ? '' : 'It can be drawn once the first error is mended.'}
          </p>
        )}
      </div>
      {diagnostics.length > 0 && (
        <div className="max-h-1/2 shrink-0 overflow-y-auto border-t bg-surface">
          <DiagnosticList diagnostics={diagnostics} onGoTo={onGoTo} />
          {errors && (
            <p className="px-4 py-3 text-t1 text-ink-3">Nothing is imported while an error stands.</p>
          )}
        </div>
      )}
    </>
  )
}

function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((fault) => fault.severity === 'error')
}

/** A file dropped anywhere on what wears `drop`; `over` while one is held above it. */
function useDrop(take: (file: File | undefined) => Promise<void>) {
  const [over, setOver] = useState(false)
  const drop = {
    onDragOver: (event: DragEvent) => {
      event.preventDefault()
      setOver(true)
    },
    onDragLeave: (event: DragEvent) => event.currentTarget === event.target && setOver(false),
    onDrop: (event: DragEvent) => event.preventDefault(),
    // Before the editor, which would put the file's text in at the pointer as well. Dragged text stays the editor's.
    onDropCapture: (event: DragEvent) => {
      setOver(false)
      if (event.dataTransfer.files.length === 0) return
      event.preventDefault()
      event.stopPropagation()
      void take(event.dataTransfer.files[0])
    },
  }
  return { over, drop }
}

const formatNames: Record<Format, string> = { atd: 'ATD', promptpack: 'PromptPack', agentd: 'agentd' }

function shortened(name: string): string {
  return name.length > 32 ? `${name.slice(0, 31)}…` : name
}

function ChooseFile({ onFile }: { onFile: (file: File | undefined) => void }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        aria-label="Workflow file"
        tabIndex={-1}
        accept=".json,.atd,.toml,.yaml,.yml,application/json,application/atd-workflow+json,application/toml,application/yaml"
        className="sr-only"
        onChange={(event) => {
          onFile(event.target.files?.[0])
          // The same file again, after it was mended outside, is a change too.
          event.target.value = ''
        }}
      />
      <Button size="sm" onClick={() => input.current?.click()}>
        Choose a file…
      </Button>
    </>
  )
}
