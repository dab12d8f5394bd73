'use client'
/*
 * Binding a tool: who or what does the work when a model calls it. What is saved is the pack's own text with this one
 * binding changed, as a new version; nothing else in it moves. The server checks it as it checks every text, and what it
 * finds is shown here before one goes on.
 */
import { useRouter } from 'next/navigation'
import { useRef, useState } from 'react'
import { Button } from '@/components/ui/button'
import { Dialog } from '@/components/ui/dialog'
import { Field, Input, Select, Textarea } from '@/components/ui/field'
import { tell } from '@/components/ui/toast'
import type { Diagnostic } from '@/lib/base/diagnostic'
import { isApiProblem, isRefusal, newIdempotencyKey, sentenceOf } from '@/lib/ui/api'
import { links } from '@/lib/ui/links'
import { useBindTool } from '@/lib/ui/workflow-queries'
import type { WorkflowDetail } from '@/lib/view/workflow-wire'
import type { ToolBinding, ToolDeclaration } from '@/lib/workflow/graph'
import {
  type BindingField,
  type BoundKind,
  bindingFields,
  bindingFrom,
  boundKinds,
  boundKindWords,
  type Fills,
  isByHand,
  kindOf,
  type TypedIn,
  typedFrom,
} from './binding-form'
import { DiagnosticList } from './diagnostic-list'
import { bindingWords, parameterNames, toolLines } from './tool-words'

export function BindDialog({
  workflow,
  tool,
  onClose,
}: {
  workflow: WorkflowDetail
  tool: ToolDeclaration
  onClose: () => void
}) {
  const router = useRouter()
  const bind = useBindTool(workflow.version)
  const [kind, setKind] = useState<BoundKind>(() => kindOf(tool))
  const [typed, setTyped] = useState<TypedIn>(() => typedFrom(tool, kindOf(tool)))
  const [fills, setFills] = useState<Fills>(() => tool.binding?.artifacts ?? {})
  const [faults, setFaults] = useState<TypedIn>({})
  const [refused, setRefused] = useState<{ sentence: string; diagnostics: Diagnostic[] }>()
  const [stored, setStored] = useState<WorkflowDetail>()
  const attempts = useRef(new Map<string, string>())
  // What was typed for a kind is there again when one comes back to it.
  const drafts = useRef(new Map<BoundKind, TypedIn>())

  function choose(next: BoundKind) {
    drafts.current.set(kind, typed)
    setKind(next)
    setTyped(drafts.current.get(next) ?? typedFrom(tool, next))
    setFaults({})
  }

  async function save(binding: ToolBinding | null) {
    setRefused(undefined)
    const intent = JSON.stringify(binding)
    const idempotencyKey = attempts.current.get(intent) ?? newIdempotencyKey()
    attempts.current.set(intent, idempotencyKey)
    try {
      const detail = await bind.mutateAsync({
        tool: tool.name,
        binding,
        newest: newestOf(workflow),
        idempotencyKey,
      })
      if (newIn(detail, workflow).length > 0) return setStored(detail)
      go(detail)
    } catch (error) {
      if (isRefusal(error)) attempts.current.delete(intent)
      const diagnostics = isApiProblem(error, 'workflow_invalid')
        ? ((error.data.diagnostics as Diagnostic[]) ?? [])
        : []
      setRefused({ sentence: sentenceOf(error), diagnostics })
    }
  }

  function go(detail: WorkflowDetail) {
    const now = detail.graph.tools?.find(({ name }) => name === tool.name)
    tell(nowWords(tool.name, now?.binding), { detail: 'Saved as a new version.' })
    onClose()
    router.push(links.workflow(detail.version))
  }

  function submit() {
    const read = bindingFrom(tool, kind, typed, fills)
    if ('faults' in read) return setFaults(read.faults)
    setFaults({})
    void save(read.binding)
  }

  if (stored) {
    return (
      <Stored
        tool={tool.name}
        stored={stored}
        diagnostics={newIn(stored, workflow)}
        onOpen={() => go(stored)}
      />
    )
  }

  const isNewest = newestOf(workflow) === workflow.version
  return (
    <Dialog
      open
      onClose={onClose}
      width={640}
      title={`Bind “${tool.name}”`}
      description={tool.description || undefined}
      actions={
        <>
          <Button variant="primary" busy={bind.isPending} onClick={submit}>
            Save as a new version
          </Button>
          {tool.binding && (
            <Button disabled={bind.isPending} onClick={() => void save(null)}>
              Bind to nothing
            </Button>
          )}
          <Button variant="quiet" onClick={onClose}>
            Cancel
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        {!isNewest && (
          <p role="note" className="rounded-r2 border px-3 py-2">
            This is an older version; the new one is made from it.
          </p>
        )}
        {isByHand(tool) && (
          <p role="note" className="rounded-r2 border px-3 py-2">
            Now it {bindingWords(tool.binding)}, as the pack’s text says. Saving here takes the place of that.
          </p>
        )}
        <Field label="What does the work" help={boundKindWords[kind].does}>
          {(ids) => (
            <Select {...ids} value={kind} onChange={(event) => choose(event.target.value as BoundKind)}>
              {boundKinds.map((one) => (
                <option key={one} value={one}>
                  {boundKindWords[one].word}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Arguments tool={tool} />
        {bindingFields(kind).map((field) => (
          <BindingInput
            key={`${kind} ${field.name}`}
            field={field}
            value={typed[field.name] ?? ''}
            fault={faults[field.name]}
            onChange={(value) => {
              setTyped((before) => ({ ...before, [field.name]: value }))
              setFaults(({ [field.name]: _, ...rest }) => rest)
            }}
          />
        ))}
        <Filled workflow={workflow} tool={tool.name} fills={fills} onChange={setFills} />
        {refused && <Refused {...refused} />}
        {/* Enter in a line saves, as the button does. */}
        <input type="submit" hidden />
      </form>
    </Dialog>
  )
}

/** The new version is stored, and warns of something that the one before did not. */
function Stored({
  tool,
  stored,
  diagnostics,
  onOpen,
}: {
  tool: string
  stored: WorkflowDetail
  diagnostics: Diagnostic[]
  onOpen: () => void
}) {
  return (
    <Dialog
      open
      onClose={onOpen}
      width={640}
      title={nowWords(tool, stored.graph.tools?.find(({ name }) => name === tool)?.binding)}
      description="The new version is stored. Of its text this is new:"
      actions={
        <Button variant="primary" onClick={onOpen}>
          Open the new version
        </Button>
      }
    >
      <div className="-m-4">
        <DiagnosticList diagnostics={diagnostics} onGoTo={onOpen} />
      </div>
    </Dialog>
  )
}

function Refused({ sentence, diagnostics }: { sentence: string; diagnostics: readonly Diagnostic[] }) {
  return (
    <div role="alert" className="rounded-r2 border border-failed-line">
      <p className="px-3 py-2 text-failed-ink [overflow-wrap:anywhere]">{sentence}</p>
      {diagnostics.length > 0 && (
        <ul className="border-t px-3 py-2">
          {diagnostics
            .filter(({ severity }) => severity === 'error')
            .slice(0, 10)
            .map((fault) => (
              <li key={`${fault.path} ${fault.code}`} className="py-0.5 [overflow-wrap:anywhere]">
                {fault.message} <span className="text-ink-3">{fault.mend}</span>
              </li>
            ))}
        </ul>
      )}
    </div>
  )
}

/** “look_up” runs /bin/echo; “look_up” is bound to nothing. */
function nowWords(tool: string, binding: ToolBinding | undefined): string {
  return `“${tool}” ${binding ? bindingWords(binding) : 'is bound to nothing'}`
}

/** Warnings that the version before had not: what it had is known, and stands beside its text. */
function newIn(detail: WorkflowDetail, before: WorkflowDetail): Diagnostic[] {
  const known = new Set(before.diagnostics.map(({ code, message }) => `${code} ${message}`))
  return detail.diagnostics.filter(
    ({ severity, code, message }) => severity === 'warning' && !known.has(`${code} ${message}`),
  )
}

function newestOf({ history, version }: WorkflowDetail): string {
  return [...history].sort((a, b) => b.importedAt - a.importedAt)[0]?.version ?? version
}

/** What a call brings along, as it is written below. */
function Arguments({ tool }: { tool: ToolDeclaration }) {
  const parameters = parameterNames(tool.parameters)
  if (parameters.length === 0) return <p className="text-t1 text-ink-3">Calls of it bring no arguments.</p>
  return (
    <div>
      <p className="text-t1 text-ink-2">Arguments of a call; write one where it goes</p>
      <ul className="mt-1 flex flex-wrap gap-x-4 gap-y-1">
        {parameters.map(({ name, type, required, help }) => (
          <li key={name} title={help || undefined}>
            <code className="mono">{`{{args.${name}}}`}</code>{' '}
            <span className="text-t1 text-ink-3">
              {type}
              {!required && ', optional'}
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}

function BindingInput({
  field: { as, label, help, required, choices = [] },
  value,
  fault,
  onChange,
}: {
  field: BindingField
  value: string
  fault: string | undefined
  onChange: (value: string) => void
}) {
  return (
    <Field label={label} help={help} error={fault} optional={!required}>
      {(ids) =>
        as === 'choice' ? (
          <Select {...ids} value={value} onChange={(event) => onChange(event.target.value)}>
            {!choices.includes(value) && <option value={value}>{value || 'Choose one'}</option>}
            {choices.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </Select>
        ) : as === 'line' || as === 'number' ? (
          <Input
            {...ids}
            className="mono"
            autoComplete="off"
            spellCheck={false}
            inputMode={as === 'number' ? 'numeric' : 'text'}
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
        ) : (
          <Textarea
            {...ids}
            className="mono leading-5"
            spellCheck={false}
            rows={Math.min(8, Math.max(2, value.split('\n').length))}
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
        )
      }
    </Field>
  )
}

/** Artifacts that results fill: none, all of a result, or a part of it by its path. */
function Filled({
  workflow,
  tool,
  fills,
  onChange,
}: {
  workflow: WorkflowDetail
  tool: string
  fills: Fills
  onChange: (fills: Fills) => void
}) {
  const states = new Set(toolLines(workflow.graph).find((line) => line.tool === tool)?.states)
  const slots = workflow.graph.artifacts.filter(
    ({ name }) =>
      Object.hasOwn(fills, name) ||
      workflow.graph.nodes.some(
        ({ id, config }) =>
          states.has(id) && Array.isArray(config.artifacts) && config.artifacts.includes(name),
      ),
  )
  if (slots.length === 0) return null
  return (
    <fieldset>
      <legend className="text-t1 text-ink-2">Artifacts that its results fill</legend>
      <ul className="mt-1 flex flex-col gap-2">
        {slots.map(({ name }) => {
          const path = Object.hasOwn(fills, name) ? fills[name] : undefined
          const { [name]: _, ...rest } = fills
          return (
            <li key={name} className="flex flex-wrap items-center gap-2">
              <label className="flex min-w-40 items-center gap-2 max-md:min-h-12">
                <input
                  type="checkbox"
                  className="size-4 accent-ink"
                  checked={path !== undefined}
                  onChange={(event) => onChange(event.target.checked ? { ...rest, [name]: '' } : rest)}
                />
                <span className="mono">{name}</span>
              </label>
              {path !== undefined && (
                <Input
                  aria-label={`Part of the result that fills ${name}`}
                  className="mono flex-1"
                  placeholder="all of the result, or a path in it: body.id"
                  autoComplete="off"
                  spellCheck={false}
                  value={path}
                  onChange={(event) => onChange({ ...rest, [name]: event.target.value.trim() })}
                />
              )}
            </li>
          )
        })}
      </ul>
    </fieldset>
  )
}
