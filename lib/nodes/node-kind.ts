/*
 * What a node kind is, for people and for the engine: its config, its words, what it does to the world, what its
 * checkpoint holds. What it *does* is its runner's (lib/runners). A kind is one file here and one there; the registry's
 * type keeps both complete, and the palette, the editor's form, the linter and the docs know a kind from this alone.
 */
import type { z } from 'zod'
import type { Json } from '@/lib/base/json'
import type { GraphNode } from '@/lib/workflow/graph'

export type Family = 'input' | 'transform' | 'action' | 'control' | 'agent'

/** What an action does to the world, worst last. */
export type Consequence = 'read_only' | 'reversible' | 'irreversible'

export interface FieldWords {
  label: string
  /** One short sentence: what to write here. */
  help: string
  example?: Json
  /** Used by other kinds that act through this one; never shown in a form and never read from a file. */
  internal?: true
}

export interface NodeKind<C = Record<string, unknown>> {
  kind: string
  /** Part of graphs made for another kind; no palette offers it and no file names it. */
  internal?: true
  /** A verb and its object: "Write a file". */
  title: string
  /** One sentence for the palette. */
  summary: string
  family: Family
  /** Strict: unknown members are refused by name. */
  config: z.ZodType<C>
  /** Words for each config member, in the order the form shows them. */
  fields: { [K in keyof C & string]-?: FieldWords }
  /** Branch labels a completion can carry; empty when there is one way on, `any` when a value decides. */
  labels(config: C): string[] | 'any'
  /** What performing it does to the world, as the kind and its config alone can tell. */
  consequence(config: C): Consequence
  /** Seconds an attempt may take unless the node says otherwise. */
  timeoutS: number
  /** For consequential kinds, in words for people. */
  checkpoint?: { holds: string; undo: string }
}

/** The consequence of a node: what its kind says, narrowed by the author's `reversible: false`. */
export function narrowed(kindSays: Consequence, node: GraphNode): Consequence {
  return kindSays === 'reversible' && node.reversible === false ? 'irreversible' : kindSays
}
