import { dataFolder } from './data-folder'
import { exitCode } from './exit-codes'

/** `holdpoint worker`: works on a data folder's runs until it is asked to stop, then lets effects finish. */
export async function workerCommand(options: { data?: string }): Promise<number> {
  const { workAlone } = await import('@/lib/server/work-alone')
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  const data = dataFolder(options.data)
  await workAlone({
    dataDir: data.path,
    signal: stop.signal,
  })
  return exitCode.ok
}
