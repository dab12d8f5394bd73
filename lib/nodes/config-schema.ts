/*
 * What the configs of node kinds are made of: strict objects that name what they do not know, dotted paths, and pairs
 * of which exactly one member is given (a literal, or where to read it from).
 *
 * Schemas check and never change: no defaults and no rewriting, so that a config reads back as its author wrote it.
 */
import { z } from 'zod'
import { maxPathChars, maxPathSegments, parsePath } from './values-path'

/** A strict object; an unknown member is refused with the names there are. */
export function strictConfig<S extends z.ZodRawShape>(shape: S) {
  const names = Object.keys(shape)
  const known = names.length === 0 ? 'there are none' : `the fields are ${names.join(', ')}`
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `There is no field ${(issue.keys ?? []).map((key: string) => JSON.stringify(key.slice(0, 60))).join(', ')} here; ${known}.`
        : undefined,
  })
}

/** A dotted path into the run's values. */
export const dottedPath = z.string().refine((text) => parsePath(text) !== undefined, {
  error: `A dotted path was expected, such as trigger.path or load.items.0.id, of at most ${maxPathChars} characters and ${maxPathSegments} segments.`,
})

/** A file path as the workflow names it. */
export const filePath = z
  .string()
  .min(1, 'A path was expected; the text is empty.')
  .max(4_096, 'A path has at most 4,096 characters.')
  .refine((text) => !text.includes('\0'), { error: 'A path holds no NUL character.' })

type Given = Record<string, unknown>

/** Refuses a config that gives both of a pair, or neither where one is needed. */
export function oneOf(first: string, second: string, need: 'exactly_one' | 'at_most_one' = 'exactly_one') {
  return (config: Given, context: z.RefinementCtx<Given>): void => {
    const given = [first, second].filter((name) => config[name] !== undefined)
    if (given.length === 2) {
      context.addIssue({
        code: 'custom',
        path: [second],
        message: `Both "${first}" and "${second}" are given; give one of them.`,
      })
    } else if (given.length === 0 && need === 'exactly_one') {
      context.addIssue({
        code: 'custom',
        path: [first],
        message: `Neither "${first}" nor "${second}" is given; give exactly one of them.`,
      })
    }
  }
}

/** A workflow as another one names it: a path its author knows, or a name in the library. */
export const workflowPath = z
  .string()
  .min(1, 'A workflow was expected; the text is empty.')
  .max(1_024, 'A workflow path has at most 1,024 characters.')
  .refine((text) => !text.includes('\0'), { error: 'A workflow path holds no NUL character.' })
