/*
 * Starting and stopping the server's side: the lock, the installation, the worker, the housekeeping, and a shutdown
 * that lets effects finish. Called once by instrumentation.ts.
 */
import fs from 'node:fs'
import path from 'node:path'
import { firstRunLink } from '@/lib/auth/first-run'
import { isProblem } from '@/lib/base/problem'
import { lockForServer } from '@/lib/store/server-lock'
import { foldersInEnv } from './folders-in-env'
import { stampAddresses } from './http/client-address'
import type { Installation } from './installation'
import { bringLab } from './lab'
import { createLog } from './log'
import { openInstallation } from './open-installation'
import { readOpened } from './opened'
import { purgeExpired } from './purge'
import { startWork } from './work'

/** Names the server's own worker in leases: there is one on a data folder. */
const serverOwner = 'server'
/** How often expired checkpoints are purged and old answers forgotten. */
const housekeepingMs = 60_000
/** Ended sessions, used links and old attempts are kept this long for whoever looks into them. */
const authRowsKeptMs = 30 * 24 * 3_600_000

/** Opens the installation that the environment names (lib/cli/serve.ts has the table) and starts its worker. */
export function boot(): void {
  if (globalThis.holdpointInstallation) return
  stampAddresses(Number(process.env.HOLDPOINT_PROXIES ?? 0))
  const log = createLog(process.env.HOLDPOINT_LOG ?? 'info')
  const note = process.env.HOLDPOINT_OPENED
  const opening = note ? showOpened(log, note) : start(log)
  globalThis.holdpointInstallation = opening
  opening.catch((error: unknown) => {
    const sentence = error instanceof Error ? error.message : String(error)
    // A Problem's sentence says it all, and its stack would bury it.
    if (isProblem(error)) log.fatal({ code: error.code }, `Holdpoint cannot start: ${sentence}`)
    else log.fatal({ err: error }, `Holdpoint cannot start: ${sentence}`)
    process.exit(1)
  })
}

async function start(log: ReturnType<typeof createLog>): Promise<Installation> {
  const dataDir = path.resolve(process.env.HOLDPOINT_DATA ?? 'data')
  const origin = process.env.HOLDPOINT_ORIGIN ?? 'http://localhost:3000'
  const lock = lockForServer(dataDir)
  const house = await openInstallation({
    dataDir,
    origin,
    log,
    ...foldersInEnv(),
  })
  for (const root of house.ports.installationRoots) fs.mkdirSync(root, { recursive: true, mode: 0o700 })
  // The lock says that no other server lives on this folder: what one had in hand when it was killed goes on now.
  await house.store.leases.releaseAllOf(serverOwner)
  const work = startWork(house, serverOwner)
  const care = setInterval(() => void keepHouse(house), housekeepingMs)
  await leaveFirstLink(house, process.env.HOLDPOINT_FIRST_LINK_FILE)
  if (process.env.HOLDPOINT_LAB === '1') void bringLab(house)
  onShutdown(async () => {
    clearInterval(care)
    await work.stop()
    await house.close()
    lock.release()
  }, log)
  log.info({ dataDir, origin }, `Holdpoint is up on ${origin}`)
  return house
}

/** A bundle to look at (opened.ts): no worker, no lab, no housekeeping, and a store that is only read. */
async function showOpened(log: ReturnType<typeof createLog>, note: string): Promise<Installation> {
  const dataDir = path.resolve(process.env.HOLDPOINT_DATA ?? 'data')
  const origin = process.env.HOLDPOINT_ORIGIN ?? 'http://localhost:3000'
  const house = await openInstallation({ dataDir, origin, log, opened: readOpened(note) })
  onShutdown(() => house.close(), log)
  return house
}

/** While nobody has an account, a one-time link lies in this file (mode 0600) for the start command to print. */
async function leaveFirstLink(house: Installation, file: string | undefined): Promise<void> {
  if (!file) return
  const link = await firstRunLink(house.auth)
  if (link === undefined) fs.rmSync(file, { force: true })
  else fs.writeFileSync(file, `${link}\n`, { mode: 0o600 })
}

async function keepHouse(house: Installation): Promise<void> {
  const now = house.ports.timer.now()
  try {
    // A key rotated on the command line is taken up here.
    house.keys.reload()
    const purged = await purgeExpired(house)
    await house.store.forget(now)
    await house.people.forgetBefore(now - authRowsKeptMs)
    if (purged > 0) house.log.info({ purged }, `Purged ${purged} expired checkpoints`)
  } catch (error) {
    house.log.warn({ err: error }, 'Housekeeping could not run; trying again in a minute')
  }
}

/** The first signal drains; effects under way may finish and leases are released. A second one ends at once. */
function onShutdown(stop: () => Promise<void>, log: ReturnType<typeof createLog>): void {
  let asked = false
  const stopping = (signal: string) => {
    if (asked) process.exit(130)
    asked = true
    log.info({ signal }, 'Stopping: letting steps under way finish')
    void stop().then(
      () => process.exit(0),
      (error) => {
        log.error({ err: error }, 'The shutdown was not clean; the next start recovers')
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', () => stopping('SIGTERM'))
  process.on('SIGINT', () => stopping('SIGINT'))
}
