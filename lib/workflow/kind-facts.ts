/* What the checks of a graph need to know of the kinds its nodes have; the kinds themselves are lib/nodes. */
import type { z } from 'zod'
import type { JsonObject } from '@/lib/base/json'

/** As much of a node kind (lib/nodes) as a check needs. */
export interface KindFacts {
  config: z.ZodType
  /** The labels its completions can carry, `any` when a value decides. Absent: nothing is known of them. */
  labels?(config: JsonObject): string[] | 'any'
  /** What performing it does to the world; only what is not `read_only` takes a checkpoint. Absent: nothing is known. */
  consequence?(config: JsonObject): 'read_only' | 'reversible' | 'irreversible'
}

/** Finds a node kind by name. Absent kinds are problems; `names` are those there are, for who misspelled one. */
export interface KindLookup {
  (kind: string): KindFacts | undefined
  names?: readonly string[]
}
