import type { Json, JsonObject } from '@/lib/base/json'
import type { ErrorType, Severity } from '@/lib/engine/facts'
import type { Consequence } from '@/lib/nodes/node-kind'

/** One agent of the lab: what it is called, what its state is, and what it can be asked to do. */
export interface LabAgent {
  /** SPIFFE id. */
  id: string
  name: string
  /** Files it starts its life with, by name, inside its own folder. */
  files: Record<string, string>
  operations: Record<string, Operation>
  /** What it sees right now, for `GET /state`. */
  seen(world: World): Promise<Json | string>
  /** Further paths that can be read: `/telemetry`. */
  reads?: Record<
    string,
    (world: World, headers: Readonly<Record<string, string | undefined>>) => Promise<Answer>
  >
}

/** What an agent's code may reach: its own files, and its neighbours over HTTP. */
export interface World {
  /** The text of one of its own files; empty when there is none. */
  text(file: string): Promise<string>
  /** Where another agent of the lab listens. */
  baseUrlOf(name: string): string
  signal: AbortSignal
}

export interface Answer {
  status: number
  body: Json | string
}

export interface Operation {
  consequence: Consequence
  /** The one file it changes; absent when it changes none. */
  file?: string
  /** What it would do, in words; changes nothing. */
  describe(input: JsonObject, before: string): Description
  /** Does it. A new text for its file is written by the server, in one piece and synced. Throws OperationFailed. */
  execute(input: JsonObject, before: string, world: World, idempotencyKey: string): Promise<Done>
  /** Looks whether it has happened; undefined when looking does not tell. `before` is what the checkpoint holds. */
  tookEffect?(
    input: JsonObject,
    before: string | undefined,
    now: string,
    idempotencyKey: string,
  ): boolean | undefined
}

export interface Description {
  sentence: string
  target: string
  preview?: { title: string; before: string; after: string }
  undo_sentence?: string
}

export interface Done {
  output: Json
  label?: string
  write?: string
}

/** An operation that did not work, in the words of ATD section 5. */
export class OperationFailed extends Error {
  override readonly name = 'OperationFailed'

  constructor(
    readonly status: number,
    readonly code: string,
    sentence: string,
    readonly errorType: ErrorType = 'action_failed',
    readonly severity: Severity = 'error',
    readonly retriable = false,
  ) {
    super(sentence)
  }
}

/** The SPIFFE id of an agent of the lab. */
export function labId(name: string): string {
  return `spiffe://holdpoint.local/agent/${name}`
}
