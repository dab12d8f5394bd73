import { isJsonObject, type Json } from '@/lib/base/json'
import type { WorkflowGraph } from './graph'

/** What begins a run, as workflows can ask (`trigger.kind`). */
export type TriggerKind = 'manual' | 'http' | 'event'

/**
 * The run's input as its steps see it under `trigger`. In agentd's language that is the payload with its kind: members
 * of an object stand beside it, anything else stands under `input` (agentd section 11). Elsewhere it is the payload.
 */
export function triggerInput(graph: WorkflowGraph, kind: TriggerKind, payload: Json): Json {
  if (graph.format !== 'agentd') return payload
  return isJsonObject(payload) ? { ...payload, kind } : { kind, input: payload }
}
