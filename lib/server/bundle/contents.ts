/* What is in a bundle whose frame and manifest could be read, of either edition, for whoever opens it. */
import type { Hash } from '@/lib/base/hash'
import { isJsonObject } from '@/lib/base/json'
import { unverifiedPayload } from '@/lib/ect/jws'
import type { VerificationKeys } from '@/lib/ect/keys'
import type { LedgerEntry } from '@/lib/ect/ledger-verify'
import { agentKeysIn } from './agents'
import {
  agentsEntry,
  type BundledRun,
  type BundledWorkflow,
  type Manifest,
  runEntries,
  workflowEntries,
} from './bundle'
import { type FirstManifest, firstEditionEntries } from './first-edition'
import { allLines, isLedgerLine } from './lines'
import type { TarEntry } from './tar'
import { isValueEntry } from './verify-entries'

/** What is in a bundle whose frame and manifest could be read, for whoever opens it. Views of the file. */
export interface BundleContents {
  run: string
  runs: { about: BundledRun; ledger: Uint8Array; heads: Uint8Array }[]
  workflows: { about: BundledWorkflow; graph: Uint8Array; text?: Uint8Array }[]
  values: { hash: Hash; mediaType: string; content: Uint8Array }[]
  keys: VerificationKeys
  /** Of agents that signed something in it, by their ids. */
  agents: ReadonlyMap<string, VerificationKeys>
}

/** What is in the bundle, whether or not it holds: views of its entries. */
export function contentsOf(
  manifest: Manifest,
  keys: VerificationKeys,
  entries: ReadonlyMap<string, TarEntry>,
): BundleContents {
  const content = (name: string) => entries.get(name)?.content ?? new Uint8Array()
  const listed = entries.get(agentsEntry)?.content
  return {
    agents: listed ? agentKeysIn(listed) : new Map(),
    run: manifest.run,
    runs: manifest.runs.map((about) => {
      const names = runEntries(about.run)
      return { about, ledger: content(names.ledger), heads: content(names.heads) }
    }),
    workflows: manifest.workflows.map((about) => {
      const names = workflowEntries(about.version)
      const text = entries.get(names.text)?.content
      return { about, graph: content(names.graph), ...(text && { text }) }
    }),
    values: manifest.entries.flatMap((entry) =>
      isValueEntry(entry)
        ? [
            {
              hash: entry.sha256,
              mediaType: entry.mediaType ?? 'application/octet-stream',
              content: content(entry.name),
            },
          ]
        : [],
    ),
    keys,
  }
}

/** What is in a bundle of the first edition, in the words of the second. */
export function firstContentsOf(
  manifest: FirstManifest,
  counts: { tokens: number; heads: number },
  entries: readonly TarEntry[],
  keys: VerificationKeys,
): BundleContents {
  const content = (name: string) => entries.find((entry) => entry.name === name)?.content ?? new Uint8Array()
  const at = manifest.madeAt * 1000
  const run = manifest.run as BundledRun['run']
  const ledger = content(firstEditionEntries.ledger)
  const rows = allLines<LedgerEntry>(firstEditionEntries.ledger, ledger, isLedgerLine)
  const by = unverifiedPayload(rows[0]?.token ?? '').ext
  const startedBy = isJsonObject(by) ? String(by['hp.by'] ?? '') : ''
  const { name, version, mediaType } = manifest.workflow
  return {
    run,
    agents: new Map(),
    runs: [
      {
        about: {
          ...{ run, wid: manifest.wid, relation: 'exported', version, workflow: name, startedBy },
          ...{ tokens: counts.tokens, heads: counts.heads, lastHash: rows.at(-1)?.hash ?? '' },
        },
        ledger,
        heads: content(firstEditionEntries.heads),
      },
    ],
    workflows: [
      {
        about: {
          ...{ version, name, description: '', format: '', mediaType },
          ...{ importedAt: at, importedBy: '', nodeCount: 0 },
        },
        graph: content(firstEditionEntries.graph),
        text: content(firstEditionEntries.workflow),
      },
    ],
    values: entries.slice(Object.keys(firstEditionEntries).length).map((entry) => ({
      hash: entry.name.slice('values/'.length),
      mediaType: 'application/json',
      content: entry.content,
    })),
    keys,
  }
}
