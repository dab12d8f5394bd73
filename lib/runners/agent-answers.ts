/*
 * What a remote agent may answer. Everything in it is somebody else's text: parsed by a schema, bounded, its words
 * made one harmless line. Members nobody asked for are dropped.
 */
import { z } from 'zod'
import { isHash } from '@/lib/base/hash'
import { errorTypes } from '@/lib/engine/facts'
import { oneLine } from './words'

const words = (maxChars: number) => z.string().transform((text) => oneLine(text, maxChars))
const hash = z.string().refine(isHash, { error: 'A SHA-256 in base64url was expected.' })
const previewSide = z.string().max(262_144, 'A preview holds at most 262,144 characters.')

const preview = z.object({ title: words(200), before: previewSide, after: previewSide })

export const describeAnswer = z.object({
  sentence: words(300).pipe(z.string().min(1, 'A sentence was expected.')),
  target: words(200),
  consequence: z.enum(['read_only', 'reversible', 'irreversible']),
  preview: preview.optional(),
  undo_sentence: words(300).optional(),
})

export const checkpointAnswer = z.object({
  checkpoint_id: z.string().regex(/^[A-Za-z0-9:._-]{1,128}$/, 'A checkpoint id was expected.'),
  out_hash: hash,
  ttl: z.int().min(1).max(31_536_000),
  rollback_uri: z.string().max(2_048),
  reversible: z.boolean(),
  target: words(200),
  description: words(300),
})

export const executeAnswer = z.object({
  output: z.json(),
  label: z
    .string()
    .regex(/^[A-Za-z0-9_.:-]{1,64}$/, 'A label was expected.')
    .optional(),
  /** Its state after it, hashed as `state` answers it. What nobody can read is as good as none: the effect has happened. */
  state_hash: hash.optional().catch(undefined),
})

export const probeAnswer = z.object({ outcome: z.enum(['took_effect', 'not_taken', 'unknown']) })

/** `undo_preview`: where it was asked for, and the agent can show it. */
export const stateAnswer = z.object({ state_hash: hash, undo_preview: preview.optional() })

export const rollbackAnswer = z.object({
  rollback_id: z.string().max(200).optional(),
  checkpoint_id: z.string().max(200).optional(),
  status: z.enum(['completed', 'partial', 'escalated', 'failed']),
  state_hash_before: hash.optional(),
  state_hash_after: hash.optional(),
  description: words(300).optional(),
  result_ect: z.string().max(16_384).optional(),
})

/** Cascade section 6.5, phase 1 (NOTES 4). */
export const prepareAnswer = z.object({
  rollback_id: z.string().max(200),
  checkpoint_id: z.string().max(200),
  status: z.enum(['prepared', 'cannot_prepare']),
  reason: z
    .enum(['expired', 'irreversible', 'hash_mismatch', 'unknown_checkpoint', 'conflict'])
    .optional()
    .catch(undefined),
  conflicting_rollback_id: words(200).optional(),
  description: words(300).optional(),
})

/** Problem details of an agent that could not do it. */
export const failureAnswer = z.object({
  code: z.string().regex(/^[A-Za-z0-9_.:-]{1,64}$/),
  detail: words(300),
  error_type: z.enum(errorTypes).catch('action_failed'),
  severity: z.enum(['error', 'critical']).catch('error'),
  retriable: z.boolean().catch(false),
  /** Errors that it came from: ids of their tokens. */
  upstream_errors: z
    .array(z.string().regex(/^[A-Za-z0-9:._-]{1,100}$/))
    .max(20)
    .catch([]),
})
