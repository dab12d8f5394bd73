'use client'
import type { Json, JsonObject } from '@/lib/base/json'
import { count } from '@/lib/ui/format-time'
import { restsOnWords } from '@/lib/view/fork-rests'
import type { ForkArtifact, ForkDecision, ForkPlanView } from '@/lib/view/fork-wire'
import { sizeWords } from '@/lib/view/value-content'
import { draftOf, draftState, type ValueDraft } from './value-draft'
import { ValueEditor } from './value-editor'

/** Texts as they were edited: artifacts under `artifact name`, the input under `input`. */
export type Edits = Readonly<Record<string, string | undefined>>

const inputKey = 'input'
const keyOf = (artifact: string) => `artifact ${artifact}`

export function isEdited(edits: Edits): boolean {
  return Object.values(edits).some((text) => text !== undefined)
}

function isJson({ mediaType }: ForkArtifact): boolean {
  return /[/+]json\s*(;|$)/i.test(mediaType)
}

/** A slot that can be edited here: text or JSON, and all of it is at hand. */
function isEditable(artifact: ForkArtifact): boolean {
  const isText = isJson(artifact) || artifact.mediaType.startsWith('text/')
  return isText && (artifact.hash === undefined || artifact.value !== undefined)
}

function draftFor(artifact: ForkArtifact, edits: Edits): ValueDraft {
  const draft = draftOf(artifact.value, isJson(artifact))
  return { ...draft, text: edits[keyOf(artifact.name)] ?? draft.text }
}

function inputDraft(plan: ForkPlanView, edits: Edits): ValueDraft {
  const draft = draftOf(plan.input.json, true)
  return { ...draft, text: edits[inputKey] ?? draft.text }
}

/** What the edits mean: changed values alone, and the names of those that cannot be read. */
export function editedValues(
  plan: ForkPlanView,
  edits: Edits,
): { input?: Json; artifacts: JsonObject; wrong: string[] } {
  const changed: [string, Json][] = []
  const wrong: string[] = []
  for (const artifact of plan.artifacts.filter(isEditable)) {
    const state = draftState(draftFor(artifact, edits))
    if (state.is === 'changed') changed.push([artifact.name, state.value])
    if (state.is === 'wrong') wrong.push(artifact.name)
  }
  const input = plan.input.json === undefined ? undefined : draftState(inputDraft(plan, edits))
  if (input?.is === 'wrong') wrong.push('The input')
  return {
    ...(input?.is === 'changed' && { input: input.value }),
    artifacts: Object.fromEntries(changed),
    wrong,
  }
}

/** Why what was edited cannot be forked for real, and the decision to ask for again; nothing when it can. */
export function restingEdit(
  plan: ForkPlanView,
  { input, artifacts }: { input?: Json; artifacts: JsonObject },
): { words: string; decision?: ForkDecision } | undefined {
  if (plan.held !== undefined) return { words: plan.held }
  const { restsOn } = plan.input
  const found = plan.artifacts.flatMap(({ name, restsOn: decision }) =>
    decision && Object.hasOwn(artifacts, name) ? [{ what: `the artifact "${name}"`, decision }] : [],
  )
  if (input !== undefined && restsOn) found.push({ what: 'the input', decision: restsOn })
  // From before the first of them, none of the decisions is carried.
  const [first] = found.sort((a, b) => a.decision.at - b.decision.at)
  return first && { words: restsOnWords(first.what, first.decision), decision: first.decision }
}

/** The artifacts and the input that the fork begins with, each to be edited. */
export function ForkValues({
  plan,
  edits,
  fault,
  onEdit,
}: {
  plan: ForkPlanView
  edits: Edits
  fault: { artifact?: string | undefined; sentence: string } | undefined
  onEdit: (key: string, text: string | undefined) => void
}) {
  const edit = (key: string, before: string) => (text: string) =>
    onEdit(key, text === before ? undefined : text)
  const input = inputDraft(plan, edits)
  return (
    <>
      {plan.artifacts.length > 0 && (
        <section aria-labelledby="fork-artifacts" className="flex flex-col gap-2">
          <h3 id="fork-artifacts" className="text-t1 text-ink-3">
            Artifacts, as they are at this moment
          </h3>
          {plan.artifacts.map((artifact) => {
            if (!isEditable(artifact)) return <Unedited key={artifact.name} artifact={artifact} />
            const draft = draftFor(artifact, edits)
            return (
              <ValueEditor
                key={artifact.name}
                name={artifact.name}
                about={aboutSlot(artifact)}
                help={artifact.description || undefined}
                draft={draft}
                fault={fault?.artifact === artifact.name ? fault.sentence : undefined}
                onChange={edit(keyOf(artifact.name), draft.before)}
              />
            )
          })}
        </section>
      )}
      <section aria-labelledby="fork-input" className="flex flex-col gap-2">
        <h3 id="fork-input" className="text-t1 text-ink-3">
          What the run was begun with
        </h3>
        {plan.input.json === undefined ? (
          <p className="text-ink-3">
            The input has {sizeWords(plan.input.size)}, which is too long to edit here; the fork begins with
            the same.
          </p>
        ) : (
          <ValueEditor
            name="input"
            about="JSON"
            draft={input}
            fault={fault && fault.artifact === undefined ? fault.sentence : undefined}
            onChange={edit(inputKey, input.before)}
          />
        )}
      </section>
    </>
  )
}

function aboutSlot({ mediaType, mode, entries, hash }: ForkArtifact): string {
  const kind = mode === 'append' ? `${mediaType}, added to` : mediaType
  if (hash === undefined) return `${kind}, not written yet`
  return mode === 'append' ? `${kind}, ${count(entries, 'entry', 'entries')}` : kind
}

/** What is too long or no text is carried as it is. */
function Unedited({ artifact }: { artifact: ForkArtifact }) {
  const { hash, size } = artifact
  const why =
    size === undefined
      ? `It is neither text nor JSON and cannot be edited here${hash === undefined ? '' : '; the fork has it as it is'}.`
      : `It has ${sizeWords(size)}, too long to edit here; the fork has it as it is.`
  return (
    <div className="rounded-r2 border bg-surface px-3 py-2">
      <span className="mono font-medium">{artifact.name}</span>{' '}
      <span className="text-t1 text-ink-3">
        {aboutSlot(artifact)}. {why}
      </span>
    </div>
  )
}
