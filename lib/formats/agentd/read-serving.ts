/** What starts runs from outside: [[triggers]] and [[http_routes]]. */
import { isJsonObject, type JsonObject } from '@/lib/base/json'
import type { GraphPath } from '@/lib/workflow/graph-problem'
import { nearestName } from '@/lib/workflow/nearest-name'
import type { Tell } from '../tell'
import { fits, placeWords } from './refusals'
import * as shapes from './shapes'

/** A trigger with a fault of its own is kept, so that its other members are still checked against the file. */
export function readTrigger(entry: JsonObject, path: GraphPath, tell: Tell): JsonObject {
  const { type } = entry
  const types = Object.keys(shapes.triggerShapes)
  if (typeof type === 'string' && Object.hasOwn(shapes.triggerShapes, type)) {
    const shape = shapes.triggerShapes[type as keyof typeof shapes.triggerShapes]
    fits(shape, entry, path, tell)
    return entry
  }
  const nearest = typeof type === 'string' ? nearestName(type, types) : undefined
  tell({
    path: type === undefined ? path : [...path, 'type'],
    code: type === undefined ? 'missing' : 'unknown_type',
    message:
      type === undefined
        ? `${placeWords(path)} has no "type".`
        : `${placeWords(path)} has a type that agentd does not have${nearest ? `; did you mean ${nearest}?` : '.'}`,
    mend: `Types: ${types.join(', ')}.`,
  })
  return entry
}

/** As with triggers: what is faulty was told, and the rest is checked all the same. */
export function readRoute(entry: JsonObject, path: GraphPath, tell: Tell): JsonObject {
  fits(shapes.httpRoute, entry, path, tell)
  const limit = entry.rate_limit
  const written = Array.isArray(limit) ? limit : limit === undefined ? [] : [limit]
  if (written.length > 1)
    tell({
      path: [...path, 'rate_limit', 1],
      code: 'rate_limit_twice',
      message: `${placeWords(path)} has ${written.length} rate limits; a route has at most one.`,
      mend: 'Keep one of them.',
    })
  for (const [at, one] of written.entries())
    if (isJsonObject(one))
      readRateLimit(one, [...path, 'rate_limit', ...(Array.isArray(limit) ? [at] : [])], tell)
  return entry
}

function readRateLimit(limit: JsonObject, path: GraphPath, tell: Tell): void {
  fits(shapes.rateLimit, limit, path, tell)
  const given = ['per_second', 'refill_per_sec'].filter((name) => limit[name] !== undefined)
  if (given.length === 1) return
  tell({
    path: given.length === 0 ? path : [...path, 'refill_per_sec'],
    code: given.length === 0 ? 'missing' : 'rate_limit_twice',
    message:
      given.length === 0
        ? `${placeWords(path)} does not say how fast it fills up again.`
        : `${placeWords(path)} has both "per_second" and "refill_per_sec", which mean the same.`,
    mend: given.length === 0 ? 'Add "per_second".' : 'Keep one of them.',
  })
}
