/*
 * Where the bounds of pools come from: of an agent from its entry in the registry, of this machine from a setting, and
 * where neither says anything, the usual. And the pools of this process, over all of it.
 */
import os from 'node:os'
import { z } from 'zod'
import { usualRules } from '@/lib/pool/schedule'
import type { PoolAsk, PoolLimits, PoolName } from '@/lib/pool/terms'
import type { AgentStore } from '@/lib/store/agents'
import type { PoolUseStore } from '@/lib/store/pool-use'
import type { SettingStore } from '@/lib/store/settings'
import { openPools, type PoolBook, type PoolTerms } from '@/lib/worker/pool-book'
import type { WorkerLog } from '@/lib/worker/ports'
import type { Timer } from '@/lib/worker/timer'
import type { Resources } from '@/lib/workflow/graph'

/** An agent may be called by so many steps at once unless an administrator says otherwise. */
export const usualLimits: PoolLimits = {
  connections: 64,
  connectionsPerWorkflow: 32,
  queuePerWorkflow: 1_000,
}

/** Name of the setting that holds `HereSetting`. */
export const hereSetting = 'pool.here'

const positive = z.number().positive().max(100_000_000)
export const hereSettingSchema = z.strictObject({
  cpu: positive.optional(),
  memory_mb: positive.optional(),
  gpu: z.number().min(0).max(1_000).optional(),
  network_mbps: positive.optional(),
  /** Of all pools. */
  starve_after_s: z.number().int().min(1).max(86_400).optional(),
})

export type HereSetting = z.infer<typeof hereSettingSchema>

/** What administrators set for this machine; what cannot be read counts as nothing said. */
export async function readHere(settings: Pick<SettingStore, 'get'>): Promise<HereSetting> {
  const setting = await settings.get(hereSetting)
  const read = hereSettingSchema.safeParse(setting?.value)
  return read.success ? read.data : {}
}

/** What this machine hands out: as set, else all it has. Devices and network are nobody's to count unless they are set. */
export function hereCapacity(setting: HereSetting): Resources {
  return {
    cpu: setting.cpu ?? os.availableParallelism(),
    memoryMb: setting.memory_mb ?? Math.floor(os.totalmem() / 2 ** 20),
    gpu: setting.gpu ?? 0,
    networkMbps: setting.network_mbps ?? 1_000,
  }
}

/** What a pool has, as it is set now. */
export async function termsOf(
  settings: Pick<SettingStore, 'get'>,
  agents: AgentStore,
  pool: PoolName,
): Promise<PoolTerms> {
  const here = await readHere(settings)
  const rules = { ...usualRules, starveAfterS: here.starve_after_s ?? usualRules.starveAfterS }
  if (pool === 'here') return { limits: usualLimits, capacity: hereCapacity(here), rules }
  const agent = await agents.get(pool)
  return { limits: { ...usualLimits, ...agent?.limits }, rules }
}

/** The pools of this process. `exhausted`: critical work could not begin for a minute, and a person has to hear of it. */
export function openPoolsOf(house: {
  settings: SettingStore
  use: PoolUseStore
  agents: AgentStore
  timer: Timer
  /** Names this process. */
  owner: string
  log: WorkerLog
  exhausted(ask: PoolAsk): void
}): PoolBook {
  const { settings, agents, ...ports } = house
  return openPools({ ...ports, termsOf: (pool) => termsOf(settings, agents, pool) })
}
