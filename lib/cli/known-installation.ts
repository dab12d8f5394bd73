import type { Installation } from '@/lib/server/installation'
import { dataFolder } from './data-folder'

/**
 * Opens the installation of a data folder, which a server may be running on, for as long as the work takes. Makes none:
 * a mistyped folder must not look like an installation in which nothing happens. Throws Problem `store_missing`.
 */
export async function inKnownInstallation<T>(
  data: string | undefined,
  work: (house: Installation) => Promise<T>,
): Promise<T> {
  const { mustHaveStore } = await import('@/lib/store/open')
  const { openInstallation } = await import('@/lib/server/open-installation')
  const { createLog } = await import('@/lib/server/log')
  const { foldersInEnv } = await import('@/lib/server/folders-in-env')
  const dataDir = dataFolder(data).path
  mustHaveStore(dataDir)
  const log = createLog(process.env.HOLDPOINT_LOG ?? 'warn')
  const house = await openInstallation({
    dataDir,
    origin: 'http://localhost:3000',
    log,
    ...foldersInEnv(),
  })
  try {
    return await work(house)
  } finally {
    await house.close()
  }
}
