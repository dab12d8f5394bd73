import { clip } from '@/lib/base/clip'
import type { Hash } from '@/lib/base/hash'
import { Problem } from '@/lib/base/problem'
import type { Draft } from './draft'
import type { Actor } from './facts'
import type { Run, Visit } from './run'

/** A stored value for a slot: of an `append` slot the entry to add. */
export interface ArtifactValue {
  name: string
  value: Hash
}

/**
 * One token for each artifact that is written; gives their ids. Throws Problem `bad_request` for a slot that the
 * workflow does not declare.
 */
export function addArtifacts(
  run: Run,
  { node, visit }: Pick<Visit, 'node' | 'visit'>,
  artifacts: readonly ArtifactValue[],
  by: Actor,
  par: string[],
  draft: Draft,
): string[] {
  return artifacts.map(({ name, value }) => {
    const slot = run.graph.graph.artifacts.find((declared) => declared.name === name)
    if (!slot) {
      const known = run.graph.graph.artifacts.map((declared) => declared.name).join(', ') || 'none'
      throw new Problem(
        'bad_request',
        `No state declares the artifact "${clip(name, 80)}"; there are: ${known}`,
      )
    }
    const { mediaType, mode } = slot
    return draft.add({ type: 'artifact_set', node, visit, artifact: name, value, mediaType, mode, by }, par)
  })
}
