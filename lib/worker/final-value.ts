import { isJsonObject, type Json } from '@/lib/base/json'
import type { Ending } from '@/lib/engine/outcome'
import type { LedgerStore } from '@/lib/engine/ports'
import { artifactValue } from './artifact-values'
import { readJson } from './run-book'

/**
 * What a run came to, as whoever waits for it is told: what its last step gave; of a workflow with artifacts, what was
 * said last, and every artifact as it is now, also where a limit ended the run (RFC 0009, Completion).
 */
export async function finalValueOf(ledger: LedgerStore, { output, artifacts }: Ending): Promise<Json> {
  const last = output === undefined ? null : ((await readJson(ledger, output)) ?? null)
  if (!artifacts) return last
  const values: [string, Json][] = []
  for (const [name, writes] of artifacts) {
    const value = await artifactValue(ledger, writes)
    if (value !== undefined) values.push([name, value])
  }
  const named = Object.fromEntries(values)
  const text = isJsonObject(last) ? last.text : undefined
  return text === undefined ? { artifacts: named } : { text, artifacts: named }
}
