import { foldersInEnv } from './folders-in-env'
import { createLog } from './log'
import { openInstallation } from './open-installation'
import { startWork } from './work'

/** A worker of its own beside the servers of a data folder: works until the signal, then lets effects finish. */
export async function workAlone(options: { dataDir: string; signal: AbortSignal }): Promise<void> {
  const log = createLog(process.env.HOLDPOINT_LOG ?? 'info')
  const origin = process.env.HOLDPOINT_ORIGIN ?? 'http://localhost:3000'
  const house = await openInstallation({ dataDir: options.dataDir, origin, log, ...foldersInEnv() })
  const work = startWork(house, `worker ${process.pid}`)
  log.info({ owner: work.owner }, `Working on ${options.dataDir}`)
  await new Promise<void>((resolve) => {
    if (options.signal.aborted) resolve()
    else options.signal.addEventListener('abort', () => resolve(), { once: true })
  })
  await work.stop()
  await house.close()
}
