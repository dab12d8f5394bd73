/*
 * Quick the second time: what was made from sources is made again only when the sources changed. A stamp is the
 * hash of the sources' names and contents, kept beside what was made from them. Contents, not times: a fresh
 * checkout or a switched branch sets every time anew.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { root } from './stages.mjs'

const skipped = new Set(['node_modules', 'generated'])

/** Every file at or below the places (relative to the checkout), sorted. Missing places hold nothing. */
function filesBelow(places) {
  const found = []
  const walk = (place) => {
    const full = path.join(root, place)
    if (!existsSync(full)) return
    if (!statSync(full).isDirectory()) {
      found.push(place)
      return
    }
    for (const name of readdirSync(full)) if (!skipped.has(name)) walk(path.join(place, name))
  }
  for (const place of places) walk(place)
  return found.sort()
}

/** The stamp of the places' contents, and of what else decides the result (versions, settings). Tests do not count. */
export function stampOf(places, ...alsoDecides) {
  const hash = createHash('sha256').update(JSON.stringify([process.versions.node, ...alsoDecides]))
  for (const file of filesBelow(places)) {
    if (/\.test\.tsx?$/.test(file)) continue
    hash.update(`\0${file}\0`).update(readFileSync(path.join(root, file)))
  }
  return hash.digest('hex')
}

/** True when the stamp file holds this stamp. */
export function stampHolds(file, stamp) {
  return existsSync(file) && readFileSync(file, 'utf8').trim() === stamp
}

/** Writes the stamp beside what was made. */
export function setStamp(file, stamp) {
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, `${stamp}\n`)
}
