/* What an installation is to handlers, to the worker and to the command line. */
import type { AuthContext } from '@/lib/auth/auth-context'
import type { Principal } from '@/lib/auth/principal'
import type { VerificationKeys } from '@/lib/ect/keys'
import type { KeyRing } from '@/lib/ect/keys-file'
import type { Policies } from '@/lib/runners/policy-gate'
import type { AgentStore } from '@/lib/store/agents'
import type { PeopleStore } from '@/lib/store/people'
import type { PoolUseStore } from '@/lib/store/pool-use'
import type { SettingStore } from '@/lib/store/settings'
import type { Store } from '@/lib/store/store'
import type { CircuitBook } from '@/lib/worker/circuits'
import type { WorkerPorts } from '@/lib/worker/ports'
import type { RunBook } from '@/lib/worker/run-book'
import type { CascadeWatcher } from '@/lib/worker/watch-cascades'
import type { GraphIndex } from '@/lib/workflow/graph-index'
import type { AskRates } from './ask-rates'
import type { AnswerStore } from './http/idempotency'
import type { Log } from './log'
import type { Looks } from './looks'
import type { Opened } from './opened'
import type { Reachable } from './reachable'

export interface Installation {
  readonly dataDir: string
  readonly publicOrigin: string
  /** This installation's own SPIFFE id: `iss` of every token it signs. */
  readonly id: string
  readonly store: Store
  readonly people: PeopleStore
  readonly agents: AgentStore
  readonly keys: KeyRing
  readonly book: RunBook
  readonly ports: WorkerPorts
  /** The breakers that every call goes through. */
  readonly circuits: CircuitBook
  readonly cascades: CascadeWatcher
  /** How full pools are, as every process tells it. */
  readonly poolUse: PoolUseStore
  readonly settings: SettingStore
  readonly auth: AuthContext
  readonly answers: AnswerStore
  /** How often agents ask at the protocol endpoints. */
  readonly agentRates: AskRates
  /** Looks at targets, for people (looks.ts). */
  readonly looks: Looks
  readonly log: Log
  readonly policies: Policies
  readonly authoredFolders: readonly string[]
  readonly reachable: Reachable
  /** Present when it shows a bundle, read-only (opened.ts). */
  readonly opened?: Opened
  /** Public keys, former ones too, of whoever signs: this installation, or an agent that is or was registered. */
  readonly keysOf: KeysOf
  /** The graph of a stored version. Throws Problem `not_found`. */
  graphOf(version: string): Promise<GraphIndex>
  personOf(request: Request): Promise<Principal | undefined>
  tokenOf(request: Request): Promise<Principal | undefined>
  /** The token that an agent sent along with a call (ingest.ts). */
  joinCall(request: Request): Promise<unknown>
  close(): Promise<void>
}

/** By `iss`; undefined for one that nobody knows. */
export type KeysOf = (iss: string) => Promise<VerificationKeys | undefined>
