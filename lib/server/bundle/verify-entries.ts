/* What a manifest may list: its runs, and the entries that a bundle has a place for. */
import { isHash } from '@/lib/base/hash'
import { runIdOf } from '@/lib/base/ids'
import {
  agentsEntry,
  entryName,
  firstEntries,
  type Manifest,
  type ManifestEntry,
  runEntries,
  valueEntry,
  workflowEntries,
} from './bundle'
import { doubt } from './doubt'

/** Throws a Doubt unless the manifest lists each run once, under the id that its wid has, the exported one first. */
export function checkRuns({ run, wid, workflow, runs }: Manifest): void {
  const seen = new Set<string>()
  for (const one of runs) {
    if (seen.has(one.run)) doubt(entryName.manifest, `The manifest lists the run ${one.run} twice`)
    seen.add(one.run)
    if (runIdOf(one.wid) !== one.run)
      doubt(entryName.manifest, `The wid ${one.wid} is not that of ${one.run}`)
  }
  const [root] = runs
  const agrees = root?.run === run && root.wid === wid && root.version === workflow.version
  if (
    !agrees ||
    root?.relation !== 'exported' ||
    runs.slice(1).some(({ relation }) => relation === 'exported')
  ) {
    doubt(entryName.manifest, 'The first run that the manifest lists is not the one it is of')
  }
}

/** Names that must be there (true) or may be (false). */
export function expectedNames({ runs, workflows }: Manifest): Map<string, boolean> {
  const names = new Map<string, boolean>(firstEntries.slice(2).map((name) => [name, true]))
  names.set(agentsEntry, false)
  for (const { version } of workflows) {
    names.set(workflowEntries(version).graph, true)
    names.set(workflowEntries(version).text, false)
  }
  for (const { run } of runs) {
    names.set(runEntries(run).ledger, true)
    names.set(runEntries(run).heads, true)
  }
  return names
}

export function isValueEntry({ name, sha256: hash }: ManifestEntry): boolean {
  return isHash(hash) && name === valueEntry(hash)
}
