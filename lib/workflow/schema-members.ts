import { z } from 'zod'
import type { GraphPath } from './graph-problem'

/** The members that a schema knows at a place; none where it takes none, takes any, or is no plain object. */
export function memberNames(schema: z.ZodType, path: GraphPath): string[] {
  let here: unknown = schema
  const unwrap = () => {
    while (here instanceof z.ZodOptional) here = here.unwrap()
  }
  for (const part of path) {
    unwrap()
    if (here instanceof z.ZodArray) here = here.element
    else if (here instanceof z.ZodRecord) here = here.valueType
    else here = here instanceof z.ZodObject ? here.shape[String(part)] : undefined
  }
  unwrap()
  return here instanceof z.ZodObject ? Object.keys(here.shape) : []
}
