import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { type RunId, widOf } from '@/lib/base/ids'
import { openKeyRing } from '@/lib/ect/keys-file'
import { registeredKeys } from '@/lib/server/bundle/agents'
import { gather } from '@/lib/server/bundle/gather'
import { type PlannedBundle, planBundle } from '@/lib/server/bundle/write-bundle'
import { openAgents } from '@/lib/store/agents'
import { openStore } from '@/lib/store/open'
import { dataFolder } from './data-folder'
import { exitCode } from './exit-codes'
import { progressLine } from './progress'
import { UsageError } from './usage-error'

export interface ExportOptions {
  output: string
  data?: string
  withForks?: boolean
  maxValueBytes?: number
}

/** `holdpoint export RUN -o BUNDLE`: works beside a running server; writes a new file or nothing. */
export async function exportCommand(run: string, options: ExportOptions): Promise<number> {
  const runId = runIdFrom(run)
  const data = dataFolder(options.data)
  const store = await openStore(data.path, { readOnly: true })
  const progress = progressLine()
  try {
    const ring = openKeyRing(data.keys, Date.now())
    const gathered = await gather(
      runId,
      { store, keys: ring.jwks(), agentKeys: registeredKeys(openAgents(store)) },
      {
        withForks: options.withForks ?? false,
        ...(options.maxValueBytes !== undefined && { valueMaxBytes: options.maxValueBytes }),
        onProgress: ({ tokens, values }) => progress.say(`Read ${tokens} tokens and ${values} values`),
      },
    )
    const planned = await planBundle(gathered, store.ledger, ring.current)
    const sha256 = await writeNew(options.output, planned, (bytes) =>
      progress.say(`Wrote ${bytes} of ${planned.size} bytes`),
    )
    progress.over()
    tell(options.output, planned, sha256)
    return exitCode.ok
  } finally {
    progress.over()
    await store.close()
  }
}

function tell(file: string, { manifest, size }: PlannedBundle, sha256: string): void {
  const { tokens, runs, leftOut, forkedFrom } = manifest
  const below = runs.length > 1 ? ` of ${runs.length} runs` : ''
  console.log(
    `Wrote ${file}: ${size} bytes with ${tokens} ${tokens === 1 ? 'token' : 'tokens'}${below}. Check it with: holdpoint verify ${file}`,
  )
  console.log(`  SHA-256 ${sha256}, the same whenever this state is exported`)
  for (const [why, words] of [
    ['sealed', 'sealed by checkpoints, which never leave the installation'],
    ['too_large', 'too large'],
    ['not_stored', 'not kept here'],
  ] as const) {
    const count = leftOut.filter((one) => one.why === why).length
    if (count > 0) console.log(`  left out and listed: ${count} ${words}`)
  }
  if (forkedFrom && !forkedFrom.included)
    console.log(`  it was forked from ${forkedFrom.run}; its ledger goes along with --with-forks`)
}

function runIdFrom(text: string): RunId {
  try {
    widOf(text)
    return text as RunId
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** Writes a file that must not be there yet, synced; leaves nothing behind when that fails. Returns its SHA-256 in hex. */
async function writeNew(
  file: string,
  planned: PlannedBundle,
  onBytes: (bytes: number) => void,
): Promise<string> {
  let descriptor: number
  try {
    descriptor = openSync(file, 'wx', 0o600)
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST'
    throw new UsageError(
      isThere
        ? `${file} is there already; name a new file with -o`
        : `${file} cannot be written: ${(error as Error).message}`,
    )
  }
  const digest = createHash('sha256')
  let bytes = 0
  try {
    for await (const piece of planned.stream()) {
      digest.update(piece)
      writeAll(descriptor, piece)
      bytes += piece.length
      onBytes(bytes)
    }
    fsyncSync(descriptor)
  } catch (error) {
    closeSync(descriptor)
    rmSync(file, { force: true })
    throw error
  }
  closeSync(descriptor)
  return digest.digest('hex')
}

/** A write may take less than it was given: a full disk says so only the next time. */
function writeAll(descriptor: number, piece: Uint8Array): void {
  for (let at = 0; at < piece.length; ) at += writeSync(descriptor, piece, at)
}
