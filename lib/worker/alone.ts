import { Problem } from '@/lib/base/problem'

export interface WorkAloneOptions {
  dataDir: string
  keysDir: string
  /** Runs driven at once. */
  concurrency?: number
  /** Aborted on Ctrl-C: takes no more, lets effects finish, releases its leases. */
  signal: AbortSignal
}

/** Works on a data folder's runs without a console; resolves when it has stopped in good order. */
export async function workAlone(_options: WorkAloneOptions): Promise<void> {
  throw new Problem('internal', 'A worker of its own is not there yet; the console works on runs itself')
}
