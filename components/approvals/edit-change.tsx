'use client'
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser'
import { type RefObject, useMemo, useState } from 'react'
import { Button } from '@/components/ui/button'
import { Dialog } from '@/components/ui/dialog'
import { Diff } from '@/components/ui/diff'
import { Field, Input, Select, Textarea } from '@/components/ui/field'
import { HoldButton } from '@/components/ui/hold-button'
import { Segmented } from '@/components/ui/segmented'
import { canonicalJson } from '@/lib/base/canonical-json'
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { readableJson } from '@/lib/ui/readable-json'
import type { ApprovalCard } from '@/lib/view/approval-wire'
import { stepOnTarget, verdictWords } from './words'

/** A member under edit: what is typed, and what it means or why it means nothing. */
type Read = { value: Json } | { error: string }

/**
 * Edits the change before it is approved: each member of the action in a field of its own kind, or all of it as JSON,
 * with a live diff against what was proposed. What was typed outlives closing the dialog, until the question is answered.
 */
export function EditChange({
  card,
  editable,
  draft,
  open,
  busy,
  refused,
  note,
  onClose,
  onApprove,
}: {
  card: ApprovalCard
  editable: JsonObject
  /** Where the edit is kept while the dialog is closed. */
  draft: RefObject<JsonObject | undefined>
  open: boolean
  busy: boolean
  /** Why the server would not take the edit. */
  refused: string | undefined
  /** What became of the last try, when its answer was lost. */
  note: string | undefined
  onClose: () => void
  onApprove: (edited: JsonObject) => Promise<void>
}) {
  if (!open) return null
  return (
    <Editor
      card={card}
      editable={editable}
      draft={draft}
      busy={busy}
      refused={refused}
      note={note}
      onClose={onClose}
      onApprove={onApprove}
    />
  )
}

type View = 'fields' | 'json'

function Editor({
  card,
  editable,
  draft,
  busy,
  refused,
  note,
  onClose,
  onApprove,
}: Omit<Parameters<typeof EditChange>[0], 'open'>) {
  const [view, setView] = useState<View>('fields')
  const [edited, setEdited] = useState<JsonObject>(draft.current ?? editable)
  const [errors, setErrors] = useState<Record<string, string>>({})
  const wrong = Object.keys(errors).length > 0
  const changed = useMemo(() => canonicalJson(edited) !== canonicalJson(editable), [edited, editable])
  const [before, after] = useMemo(() => [readableJson(editable), readableJson(edited)], [editable, edited])

  function keep(next: JsonObject) {
    draft.current = next
    setEdited(next)
  }
  function read(place: string, result: Read, put: (value: Json) => JsonObject) {
    const { [place]: _gone, ...rest } = errors
    setErrors('error' in result ? { ...rest, [place]: result.error } : rest)
    if ('value' in result) keep(put(result.value))
  }
  const approve = `${verdictWords.approve.button(card)} with this edit`
  const ready = changed && !wrong
  return (
    <Dialog
      open
      onClose={onClose}
      width={1120}
      title={`Edit the change of ${stepOnTarget(card)}`}
      description="What you approve is what runs: the edit gets a digest of its own and your name."
      actions={
        <>
          {card.consequence === 'irreversible' ? (
            <HoldButton
              busy={busy}
              disabled={!ready}
              onHeld={() => void onApprove(edited)}
              className="min-w-0"
            >
              <span className="truncate">{approve}</span>
            </HoldButton>
          ) : (
            <Button
              variant="primary"
              busy={busy}
              disabled={!ready}
              onClick={() => void onApprove(edited)}
              className="min-w-0"
            >
              <span className="truncate">{approve}</span>
            </Button>
          )}
          <Button
            disabled={!changed && !wrong}
            onClick={() => {
              draft.current = undefined
              setEdited(editable)
              setErrors({})
            }}
          >
            Back to what was proposed
          </Button>
          <span className="flex-1" />
          <Button variant="quiet" onClick={onClose}>
            Close, keep the edit
          </Button>
        </>
      }
    >
      <div className="mb-4 flex items-center gap-3">
        <Segmented<View>
          label="Edit as"
          value={view}
          choices={[
            { value: 'fields', word: 'Fields' },
            { value: 'json', word: 'JSON' },
          ]}
          onChange={(next) => {
            setErrors({})
            setView(next)
          }}
        />
        <span className="text-t1 text-ink-3">{wrong && 'Mend what is marked first.'}</span>
      </div>
      {note && (
        <p role="alert" className="mb-3">
          {note}
        </p>
      )}
      {refused && (
        <p role="alert" className="mb-4 border border-failed-line bg-failed-wash p-3 text-failed-ink">
          <b>The edit was not taken.</b> {refused}
        </p>
      )}
      <div className="grid gap-6 lg:grid-cols-2">
        <div className="min-w-0">
          {view === 'json' ? (
            <JsonField
              label="The change as JSON"
              value={edited}
              error={errors['']}
              rows={14}
              onRead={(result) =>
                read(
                  '',
                  'value' in result && !isJsonObject(result.value)
                    ? { error: 'Expected an object: { … } with the members of the change.' }
                    : result,
                  (value) => value as JsonObject,
                )
              }
            />
          ) : (
            <div className="grid content-start gap-4 md:grid-cols-2">
              {Object.entries(editable).map(([name, proposed]) => (
                <MemberField
                  key={name}
                  name={name}
                  proposed={proposed}
                  value={edited[name] ?? null}
                  error={errors[name]}
                  onRead={(result) => read(name, result, (value) => ({ ...edited, [name]: value }))}
                />
              ))}
            </div>
          )}
        </div>
        <div className="min-w-0">
          <p className="mb-1 text-t1 text-ink-2">What your edit changes</p>
          {changed ? (
            <Diff title={card.label} before={before} after={after} context={2} numbers={false} />
          ) : (
            <p className="rounded-r2 border border-dashed border-line-strong p-4 text-ink-3">
              Nothing yet. Change a field, and the difference from what was proposed shows here.
            </p>
          )}
        </div>
      </div>
    </Dialog>
  )
}

function MemberField({
  name,
  proposed,
  value,
  error,
  onRead,
}: {
  name: string
  proposed: Json
  value: Json
  error: string | undefined
  onRead: (result: Read) => void
}) {
  const [text, setText] = useState<string>()
  if (typeof proposed === 'boolean') {
    return (
      <Field label={name}>
        {(ids) => (
          <Select
            {...ids}
            value={String(value)}
            onChange={(event) => onRead({ value: event.target.value === 'true' })}
          >
            <option value="true">true</option>
            <option value="false">false</option>
          </Select>
        )}
      </Field>
    )
  }
  if (typeof proposed === 'number') {
    return (
      <Field label={name} error={error}>
        {(ids) => (
          <Input
            {...ids}
            inputMode="decimal"
            className="mono"
            value={error ? (text ?? '') : String(value)}
            onChange={(event) => {
              setText(event.target.value)
              const typed = event.target.value.trim()
              const number = Number(typed)
              onRead(
                typed !== '' && Number.isFinite(number) ? { value: number } : { error: 'Expected a number.' },
              )
            }}
          />
        )}
      </Field>
    )
  }
  if (typeof proposed === 'string') {
    const long = proposed.includes('\n') || proposed.length > 80
    const shown = typeof value === 'string' ? value : ''
    return (
      <div className={long ? 'md:col-span-2' : ''}>
        <Field label={name}>
          {(ids) =>
            long ? (
              <Textarea
                {...ids}
                className="mono leading-5!"
                spellCheck={false}
                rows={Math.min(14, shown.split('\n').length + 1)}
                value={shown}
                onChange={(event) => onRead({ value: event.target.value })}
              />
            ) : (
              <Input
                {...ids}
                className="mono"
                spellCheck={false}
                value={shown}
                onChange={(event) => onRead({ value: event.target.value })}
              />
            )
          }
        </Field>
      </div>
    )
  }
  return (
    <div className="md:col-span-2">
      <JsonField label={name} value={value} error={error} rows={6} onRead={onRead} />
    </div>
  )
}

/** A JSON value as text. What is typed stays as it is typed; what it means is handed on when it means something. */
function JsonField({
  label,
  value,
  error,
  rows,
  onRead,
}: {
  label: string
  value: Json
  error: string | undefined
  rows: number
  onRead: (result: Read) => void
}) {
  const [text, setText] = useState(() => JSON.stringify(value, null, 2))
  return (
    <Field label={label} help="JSON" error={error}>
      {(ids) => (
        <Textarea
          {...ids}
          className="mono leading-5!"
          spellCheck={false}
          rows={Math.min(rows, text.split('\n').length + 1)}
          value={text}
          onChange={(event) => {
            setText(event.target.value)
            onRead(readJson(event.target.value))
          }}
        />
      )}
    </Field>
  )
}

function readJson(text: string): Read {
  const found: ParseError[] = []
  const value: unknown = parse(text, found, { disallowComments: true, allowTrailingComma: false })
  const first = found[0]
  if (!first && value !== undefined) return { value: value as Json }
  const before = text.slice(0, first?.offset ?? 0).split('\n')
  const what = first
    ? printParseErrorCode(first.error)
        .replace(/([a-z])([A-Z])/g, '$1 $2')
        .toLowerCase()
    : 'no value'
  return {
    error: `Not JSON yet, line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}: ${what}.`,
  }
}
