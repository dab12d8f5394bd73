import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { type RunId, widOf } from '@/lib/base/ids'
import { openKeyRing } from '@/lib/ect/keys-file'
import { collectBundle, writeBundle } from '@/lib/server/bundle/write-bundle'
import { openStore } from '@/lib/store/open'
import { dataFolder } from './data-folder'
import { exitCode } from './exit-codes'
import { UsageError } from './usage-error'

/** `holdpoint export RUN -o BUNDLE`: works beside a running server; writes a new file or nothing. */
export async function exportCommand(
  run: string,
  options: { output: string; data?: string },
): Promise<number> {
  const runId = runIdFrom(run)
  const data = dataFolder(options.data)
  const store = await openStore(data.path, { readOnly: true })
  try {
    const ring = openKeyRing(data.keys, Date.now())
    const contents = await collectBundle(runId, { ...store, keys: ring.jwks() })
    const bytes = writeNew(options.output, writeBundle(contents, ring.current, Date.now()))
    console.log(
      `Wrote ${options.output}: ${bytes} bytes with tokens up to ${contents.rows.length}. Check it with: holdpoint verify ${options.output}`,
    )
    return exitCode.ok
  } finally {
    await store.close()
  }
}

function runIdFrom(text: string): RunId {
  try {
    widOf(text)
    return text as RunId
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** Writes a file that must not be there yet, synced; leaves nothing behind when that fails. Returns its bytes. */
function writeNew(file: string, pieces: readonly Uint8Array[]): number {
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
  try {
    let bytes = 0
    for (const piece of pieces) bytes += writeSync(descriptor, piece)
    fsyncSync(descriptor)
    closeSync(descriptor)
    return bytes
  } catch (error) {
    rmSync(file, { force: true })
    throw error
  }
}
