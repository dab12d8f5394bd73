import type { JsonObject } from '@/lib/base/json'
import type { Performed } from './runner'

/** The output of an action that was not done because the run is a dry one: what it would have acted on. */
export function notDone(members: JsonObject): Performed {
  return { output: { ...members, dry_run: true } }
}
