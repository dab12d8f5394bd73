/* The counts of a manifest, and the values that tokens name, against what the ledgers say. */
import { entryName, type Manifest, runEntries, valueEntry } from './bundle'
import type { BundleFailure } from './doubt'
import type { Evidence, NamedValues } from './evidence'
import { isValueEntry } from './verify-entries'

/** As many tokens, up to the moment, as the manifest says. */
export function checkCounts(
  manifest: Manifest,
  { runs, at }: Evidence,
  note: (failure: BundleFailure) => void,
): void {
  const tokens = runs.reduce((sum, run) => sum + run.tokens, 0)
  if (tokens !== manifest.tokens || at !== manifest.at) {
    note({
      entry: entryName.manifest,
      code: 'bundle_claim_false',
      sentence: `The manifest says ${manifest.tokens} tokens up to ${manifest.at}; the ledgers have ${tokens} up to ${at}.`,
    })
  }
}

/** Every value that a token names is here or listed as left out, and nothing is here that no token names. */
export function checkValues(
  manifest: Manifest,
  { values, sealed }: NamedValues,
  has: (entry: string) => boolean,
  note: (failure: BundleFailure) => void,
): void {
  const leftOut = new Set(manifest.leftOut.map(({ hash }) => hash))
  for (const [hash, { run, seq, certain }] of values) {
    if (!certain || leftOut.has(hash) || has(valueEntry(hash))) continue
    const place = { entry: runEntries(run).ledger, seq, code: 'bundle_value_missing' as const }
    note({
      ...place,
      sentence: `Token ${seq} of ${run} names the value ${hash}, which is neither in the bundle nor listed as left out.`,
    })
  }
  for (const entry of manifest.entries) {
    if (!isValueEntry(entry) || values.has(entry.sha256)) continue
    const what = sealed.has(entry.sha256) ? 'is what a checkpoint sealed' : 'is named by no token'
    note({
      entry: entry.name,
      code: 'bundle_value_wrong',
      sentence: `The value ${entry.sha256} ${what}.`,
    })
  }
  for (const { hash, run, seq } of manifest.leftOut) {
    if (values.has(hash) || sealed.has(hash)) continue
    note({
      entry: entryName.manifest,
      seq,
      code: 'bundle_value_wrong',
      sentence: `The manifest lists ${hash} as left out of ${run}, and no token names it.`,
    })
  }
}
