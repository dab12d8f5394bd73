/*
 * Artifacts: named slots of a run that its steps write and its prompts read (RFC 0009). They share one namespace. A
 * slot is what its writings make it: of a `replace` slot the last one, of an `append` slot all of them in order, so that
 * a log that grows costs one entry each time and never a copy of itself.
 */
import type { FactOf } from './facts'
import type { ArtifactWrite, Run, Visit } from './run'

/** Folds one writing into the run. */
export function writeArtifact(run: Run, fact: FactOf<'artifact_set'>): void {
  const { artifact, value, mediaType, mode, node, visit, by, at, jti } = fact
  const write: ArtifactWrite = { artifact, value, mediaType, mode, node, visit, by, at, jti }
  run.artifactWrites.push(write)
  put(run, write)
  // What is set before a step begins is there when the walk arrives: a rollback to before that step leaves it.
  const place = run.walk?.path.at(-1)
  if (place && isUntouched(place.visit)) place.writes = run.artifactWrites.length
}

/** True until the visit has a token of its own. */
export function isUntouched({ taskJti, lastJti, doneJti }: Visit): boolean {
  return taskJti === undefined && lastJti === undefined && doneJti === undefined
}

function put(run: Run, write: ArtifactWrite): void {
  const entries = write.mode === 'append' ? run.artifacts.get(write.artifact) : undefined
  if (entries) entries.push(write)
  else run.artifacts.set(write.artifact, [write])
}

/** Artifacts are again what they were when there were so many writings. */
export function forgetWrites(run: Run, writes: number): void {
  if (writes >= run.artifactWrites.length) return
  run.artifactWrites.length = writes
  run.artifacts.clear()
  for (const write of run.artifactWrites) put(run, write)
}
