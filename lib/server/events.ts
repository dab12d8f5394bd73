/* The events a state may be given (RFC 0009): where each would lead, and the artifacts that come along. */
import { clip } from '@/lib/base/clip'
import type { RunId } from '@/lib/base/ids'
import type { JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import { eventsOf } from '@/lib/engine/decide-events'
import type { StoredValue } from '@/lib/engine/ports'
import type { Run } from '@/lib/engine/run'
import { placeAfter } from '@/lib/engine/walk'
import type { EventChoice, EventSlot } from '@/lib/view/approval-wire'
import { storedArtifact } from '@/lib/worker/artifact-values'
import { jsonValue } from '@/lib/worker/values'
import type { ArtifactDeclaration, GraphNode } from '@/lib/workflow/graph'
import { labelOf } from '@/lib/workflow/graph-index'
import type { Installation } from './installation'

/** The events a state may be given, and where each would lead now. */
export function eventChoices(run: Run, node: string): EventChoice[] {
  const found = run.graph.nodes.get(node)
  if (!found) return []
  return eventsOf(run, found).map((event) => {
    const place = run.walk && placeAfter(run, run.walk, node, event)
    if (!place) return { event, label: 'the run ends' }
    if ('limit' in place) return { event, label: 'the run ends, budget-exhausted' }
    const [meant] = place.insteadOf
    return {
      event,
      to: place.node,
      label: labelOf(run.graph, place.node),
      ...(meant && { insteadOf: labelOf(run.graph, meant) }),
    }
  })
}

/**
 * The same as people are told it. In a run that is one turn of a state, an event leads on in the run above it, and any
 * other answer goes to the model that asked for it.
 */
export async function shownChoices(
  { book, store }: Pick<Installation, 'book' | 'store'>,
  runId: RunId,
  choices: EventChoice[],
): Promise<EventChoice[]> {
  const isTurn = await book.read(runId, ({ graph }) =>
    choices.some(({ to }) => to !== undefined && graph.nodes.get(to)?.kind === 'prompt_turn'),
  )
  if (!isTurn) return choices
  const above = (await store.ledger.header(runId))?.parent
  const meant = above ? await book.read(above.runId, (run) => eventChoices(run, above.node)) : []
  return choices.map(
    ({ event }) => meant.find((choice) => choice.event === event) ?? { event, label: 'the model is told' },
  )
}

/** The artifacts that whoever gives the event may write. */
export function eventSlots(run: Run, node: string): EventSlot[] {
  return declaredSlots(run, run.graph.nodes.get(node)).map(({ name, mediaType, mode, extra }) => ({
    name,
    mediaType,
    mode,
    description: typeof extra.description === 'string' ? clip(extra.description, 400) : '',
  }))
}

/** What the rules of lib/hitl look at, and the slots' declarations for their values. */
export function eventTerms(run: Run, node: string) {
  const found = run.graph.nodes.get(node)
  const declared = declaredSlots(run, found)
  return { events: found ? eventsOf(run, found) : [], slots: declared.map(({ name }) => name), declared }
}

function declaredSlots({ graph }: Run, node: GraphNode | undefined): ArtifactDeclaration[] {
  const names = node?.config.artifacts
  if (!Array.isArray(names)) return []
  return graph.graph.artifacts.filter(({ name }) => names.includes(name))
}

/** Values for slots as they are stored. Throws Problem `bad_request` for a value that is not of its slot's type. */
export function slotValues(
  declared: readonly ArtifactDeclaration[],
  values: JsonObject,
): { refs: { name: string; value: string }[]; values: StoredValue[] } {
  const stored = Object.entries(values).map(([name, value]) => {
    const slot = declared.find((one) => one.name === name)
    if (slot && !/[/+]json\b/.test(slot.mediaType) && typeof value !== 'string') {
      throw new Problem(
        'bad_request',
        `The artifact "${name}" is ${slot.mediaType}; send its value as a text.`,
        {
          artifact: name,
        },
      )
    }
    return { name, stored: slot ? storedArtifact(slot, value) : jsonValue(value) }
  })
  return {
    refs: stored.map(({ name, stored: { hash } }) => ({ name, value: hash })),
    values: stored.map((one) => one.stored),
  }
}
