/* What travels between the server and screens about pools. Times are ms since the epoch, durations say their unit. */
import type { PoolLimits, PoolUse } from '@/lib/pool/terms'
import type { Resources } from '@/lib/workflow/graph'

/** `GET /api/v1/pools`: every registered agent, this machine, and whatever else is in use. By name, this machine last. */
export interface PoolList {
  items: PoolRow[]
  /** Nobody waits longer because others of higher priority keep coming. */
  starveAfterS: number
  /** When all this was so; what processes tell of themselves is up to a second older. */
  at: number
}

export interface PoolRow {
  /** An agent's SPIFFE id, or `here`. */
  name: string
  /** The agent's registered name; empty for `here`. */
  label: string
  limits: PoolLimits
  /** Of `here`: what is handed out. */
  capacity?: Resources
  /** Who works or waits there, or did within the last minute; the busiest first. */
  workflows: Omit<PoolUse, 'pool'>[]
}

/** Body of `PUT /api/v1/pools?name=spiffe://…` of an agent. */
export interface AgentPoolWish {
  connections: number
  connections_per_workflow: number
  queue_per_workflow: number
  /** Absent: any number. */
  requests_per_minute?: number
}

/** Body of `PUT /api/v1/pools?name=here`. Absent: the machine's. */
export interface HerePoolWish {
  cpu?: number
  memory_mb?: number
  gpu?: number
  network_mbps?: number
  /** Of all pools. */
  starve_after_s?: number
}
