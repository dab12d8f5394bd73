import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { StoryEnd } from './story'

/** Keeps a failing story as `simulate-failures/<seed>.json` (not in git) and returns the file's path. */
export function keepFailure(end: StoryEnd): string {
  const folder = path.resolve('simulate-failures')
  mkdirSync(folder, { recursive: true })
  const file = path.join(folder, `${end.seed}.json`)
  writeFileSync(file, `${JSON.stringify(end, null, 2)}\n`)
  return file
}
