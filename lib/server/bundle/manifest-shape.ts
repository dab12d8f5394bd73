/*
 * The shapes of a bundle's JSON entries. A signature says who wrote them, not that they wrote them well: everything in a
 * file that somebody sent is checked before it is used, and bounded before it is parsed.
 */
import { z } from 'zod'
import { isHash } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { depthOf } from '../http/body'
import { bundledRunsMax, bundleEdition, type Manifest } from './bundle'
import type { DecisionClaim, ReportClaims } from './claims'
import { doubt } from './doubt'

/** The manifest of 200,000 entries stays below this; nothing else in JSON is near it. */
export const jsonMaxBytes = 96 * 1024 * 1024
/** A graph nests as deep as its author's schemas; the API takes no deeper ones. */
const jsonMaxDepth = 70
const entriesMax = 200_000

const hash = z.string().refine(isHash)
const runId = z.custom<RunId>((value) => typeof value === 'string' && /^run_[0-9a-f]{32}$/.test(value))
const uuid = z.string().regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)
const text = z.string().max(4_000)
const reference = z.object({
  run: runId,
  wid: uuid,
  seq: count.optional(),
  jti: text,
  included: z.boolean(),
})

const manifest = z.object({
  bundle: z.literal(bundleEdition),
  program: text,
  run: runId,
  wid: uuid,
  workflow: z.object({ name: z.string().max(10_000), version: hash, mediaType: text }),
  at: count,
  tokens: count,
  runs: z
    .array(
      z.object({
        run: runId,
        wid: uuid,
        relation: z.enum(['exported', 'child', 'original']),
        version: hash,
        workflow: z.string().max(10_000),
        startedBy: text,
        parent: z.object({ runId, node: z.string().max(2_000), visit: count, index: count }).optional(),
        tokens: count,
        heads: count,
        lastHash: hash,
      }),
    )
    .min(1)
    .max(bundledRunsMax),
  workflows: z
    .array(
      z.object({
        version: hash,
        name: z.string().max(10_000),
        description: z.string().max(100_000),
        format: text,
        mediaType: text,
        importedAt: count,
        importedBy: text,
        nodeCount: count,
      }),
    )
    .max(bundledRunsMax),
  forkedFrom: reference.optional(),
  begunBy: reference.optional(),
  leftOut: z
    .array(
      z.object({
        hash,
        why: z.enum(['sealed', 'too_large', 'not_stored']),
        size: count.optional(),
        run: runId,
        seq: count,
      }),
    )
    .max(entriesMax),
  entries: z
    .array(z.object({ name: z.string().max(100), size: count, sha256: hash, mediaType: text.optional() }))
    .max(entriesMax),
})

const decisions = z.object({
  decisions: z
    .array(
      z.looseObject({
        run: runId,
        seq: count,
        jti: text,
        type: text,
        at: count,
        by: text,
        asked: z.object({ jti: text, sentence: z.string(), role: text }).optional(),
      }),
    )
    .max(1_000_000),
})

const claims = z.object({
  run: runId,
  at: count,
  runs: z.array(
    z.looseObject({
      run: runId,
      tokens: count,
      lastHash: hash,
      status: text,
      terminal: text.optional(),
      startedAt: count.optional(),
      endedAt: count.optional(),
    }),
  ),
  artifacts: z.array(
    z.looseObject({ run: runId, seq: count, jti: text, artifact: z.string(), mode: text, value: hash }),
  ),
  errors: z.array(
    z.looseObject({ run: runId, seq: count, jti: text, severity: text, code: z.string(), node: z.string() }),
  ),
  rollbacks: z.array(z.looseObject({ run: runId, rollback: text, status: text })),
  decisions: count,
  values: z.object({ count, bytes: count }),
  leftOut: count,
})

const object = z.record(z.string(), z.unknown())
const graph = z.object({
  name: z.string(),
  description: z.string(),
  format: z.enum(['atd', 'promptpack', 'agentd']),
  order: z.enum(['topological', 'stepwise']),
  vocabulary: z.enum(['atd', 'cascade']),
  nodes: z
    .array(
      z.looseObject({
        id: z.string().min(1),
        label: z.string(),
        kind: z.string(),
        config: object,
        priority: z.enum(['critical', 'high', 'normal', 'low']),
        extra: object,
      }),
    )
    .max(100_000),
  edges: z
    .array(z.looseObject({ from: z.string(), to: z.string(), when: z.string().optional(), extra: object }))
    .max(400_000),
  starts: z.array(z.looseObject({ name: z.string(), node: z.string() })),
  artifacts: z.array(
    z.looseObject({ name: z.string(), mediaType: z.string(), mode: z.enum(['replace', 'append']) }),
  ),
  budget: object,
  policy: z.looseObject({ roots: z.array(z.unknown()), privateTargets: z.array(z.unknown()) }),
  rules: z.array(z.unknown()),
  extra: object,
})

/** The JSON of an entry. Throws Doubt for what is too long, nests too deep or is no JSON. */
export function jsonOf(name: string, content: Uint8Array): unknown {
  if (content.length > jsonMaxBytes) {
    doubt(name, `The entry "${name}" has ${content.length} bytes; at most ${jsonMaxBytes} are read`)
  }
  const read = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('utf8')
  if (depthOf(read) > jsonMaxDepth)
    doubt(name, `The entry "${name}" nests deeper than ${jsonMaxDepth} levels`)
  try {
    return JSON.parse(read)
  } catch {
    return doubt(name, `The entry "${name}" is not JSON`)
  }
}

/** Throws Doubt unless it is a manifest of this edition. */
export function manifestOf(name: string, json: unknown): Manifest {
  return shaped(name, manifest, json) as Manifest
}

/** Throws Doubt unless these are decisions as a bundle has them. */
export function decisionsIn(name: string, content: Uint8Array): DecisionClaim[] {
  return (shaped(name, decisions, jsonOf(name, content)) as { decisions: DecisionClaim[] }).decisions
}

/** Throws Doubt unless these are a report's claims. */
export function claimsIn(name: string, content: Uint8Array): ReportClaims {
  return shaped(name, claims, jsonOf(name, content)) as ReportClaims
}

/** Throws Doubt unless it is a workflow's graph. */
export function graphIn(name: string, content: Uint8Array): WorkflowGraph {
  const json = jsonOf(name, content)
  shaped(name, graph, json)
  return json as WorkflowGraph
}

function shaped(name: string, schema: z.ZodType, json: unknown): unknown {
  const result = schema.safeParse(json)
  if (result.success) return result.data
  const issue = result.error.issues[0]
  const place = (issue?.path ?? []).map(String).join('/').slice(0, 120)
  return doubt(
    name,
    `The entry "${name}" is not as a bundle has it, at /${place}: ${issue?.message ?? 'it does not fit'}`,
  )
}
