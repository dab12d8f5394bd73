/** Lists of tables, and what every section's reader says alike. */
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import type { GraphPath } from '@/lib/workflow/graph-problem'
import type { Tell } from '../tell'
import { fits, maxNamesTold, placeWords, tellUnknown } from './refusals'

export type ReadEntry<T> = (entry: JsonObject, path: GraphPath, tell: Tell) => T | undefined

/** The entries of a list of tables that could be read, each with its place in the list. */
export function readEntries<T>(
  list: Json | undefined,
  path: GraphPath,
  tell: Tell,
  read: ReadEntry<T>,
): [T, number][] {
  if (list === undefined) return []
  if (!Array.isArray(list)) {
    tell({
      path,
      code: 'bad_value',
      message: `${placeWords(path)} is not a list of tables.`,
      mend: `Write each entry under [[${String(path.at(-1))}]], in double brackets.`,
    })
    return []
  }
  const found: [T, number][] = []
  for (const [at, entry] of list.entries()) {
    const place = [...path, at]
    if (!isJsonObject(entry)) {
      tell({
        path: place,
        code: 'bad_value',
        message: `${placeWords(place)} is not a table.`,
        mend: `Write it under [[${String(path.at(-1))}]].`,
      })
      continue
    }
    const one = read(entry, place, tell)
    if (one !== undefined) found.push([one, at])
  }
  return found
}

/** Entries that others refer to by name: with a fault of their own they are there all the same. */
export function named(schema: Parameters<typeof fits>[0]): ReadEntry<JsonObject> {
  return (entry, path, tell) =>
    fits(schema, entry, path, tell) || typeof entry.name === 'string' ? entry : undefined
}

/** Tells the first of the members that are not known; a table with more of them is another kind of table. */
export function tellUnknowns(table: JsonObject, known: readonly string[], path: GraphPath, tell: Tell): void {
  const unknown = Object.keys(table).filter((name) => !known.includes(name))
  for (const name of unknown.slice(0, maxNamesTold)) tellUnknown(name, path, known, tell)
}

export function filled(name: string, extra: JsonObject): JsonObject {
  return Object.keys(extra).length > 0 ? { [name]: extra } : {}
}
