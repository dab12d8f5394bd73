/*
 * One installation: a data folder, its keys and its store, assembled into what handlers, worker and command line use.
 * Everything that reads a clock, makes an id or touches a disk enters here; the rooms below get it as arguments.
 */
import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { keysOfAgent } from '@/lib/auth/agents'
import { tokenOf } from '@/lib/auth/api-tokens'
import type { AuthContext } from '@/lib/auth/auth-context'
import { personOf } from '@/lib/auth/sessions'
import { systemRandom } from '@/lib/base/chance'
import { systemClock } from '@/lib/base/clock'
import { mintUuid, type RunId } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import { open, seal } from '@/lib/checkpoint/seal'
import { LIVE_TTL_S } from '@/lib/ect/checks'
import type { Claims } from '@/lib/ect/claims'
import { type KeyRing, openKeyRing } from '@/lib/ect/keys-file'
import { signClaims, signHead } from '@/lib/ect/sign'
import { SigningThreads } from '@/lib/ect/signing-threads'
import type { CheckpointLimits } from '@/lib/engine/checkpoint-ports'
import { derivedMediaType, type WorkflowRecord } from '@/lib/engine/ports'
import { nameHint, readWorkflow } from '@/lib/formats/format'
import type { OpaOptions } from '@/lib/runners/opa'
import { resolverOf, runnerOf } from '@/lib/runners/registry'
import { type AgentStore, openAgents } from '@/lib/store/agents'
import { openAnswers } from '@/lib/store/answers'
import { openStore } from '@/lib/store/open'
import { openPeople } from '@/lib/store/people'
import { openPoolUse } from '@/lib/store/pool-use'
import { openSettings } from '@/lib/store/settings'
import type { Store } from '@/lib/store/store'
import { ChildWaits } from '@/lib/worker/child-waits'
import { askShared, letGo } from '@/lib/worker/circuit-questions'
import { CircuitBook } from '@/lib/worker/circuits'
import { openPlaces } from '@/lib/worker/pools'
import type { AgentsOfRun, ReachOf, Vault, WorkerPorts } from '@/lib/worker/ports'
import { RunBook, type Signer } from '@/lib/worker/run-book'
import { tellExhausted } from '@/lib/worker/tell-exhausted'
import type { Timer } from '@/lib/worker/timer'
import { CascadeWatcher } from '@/lib/worker/watch-cascades'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { type GraphIndex, indexGraph } from '@/lib/workflow/graph-index'
import { keyFetcher } from './agent-keys'
import { AskRates, requestsPerMinute } from './ask-rates'
import { joinCall } from './ingest'
import type { Installation, KeysOf } from './installation'
import { checkpointLimitsInEnv } from './limits-in-env'
import { createLog, type Log } from './log'
import { Looks } from './looks'
import type { Opened } from './opened'
import { policiesOf } from './policies'
import { openPoolsOf } from './pools'
import { reachOf } from './reach'
import { openReachable, type Reachable } from './reachable'
import { answerSignedBy } from './signed-answer'
import { systemTimer, timerOfTurns } from './system-timer'
import { tokenHoldsIn } from './token-holds'

export interface InstallationOptions {
  dataDir: string
  /** What browsers and agents see, without a slash at the end. */
  origin: string
  /** Folders any workflow's roots must lie in; `<data>/files` by default. */
  roots?: string[]
  /** Folders that files named by an author are read from: child workflows, schemas, policies. None by default. */
  authoredFolders?: string[]
  /** True on the user's own command line, where the user's authority bounds agentd workflows: any folder, any address. */
  unconfined?: boolean
  /** Decides Rego policies instead of the evaluator here; by default what HOLDPOINT_OPA_URL names. */
  opa?: OpaOptions
  /** Models and tools; by default those that `models.json` and `tools.json` in the data folder name. */
  reachable?: Reachable
  /** What steps reach; by default what lib/server/reach.ts puts together. Fixtures bring models and tools of their own. */
  reach?: (house: () => Installation) => ReachOf
  /** How many checkpoints a workflow may have and take; by default what the environment says. */
  checkpointLimits?: CheckpointLimits | 'none'
  /** First part of this installation's SPIFFE ids. */
  trustDomain?: string
  /** Time for everything that runs; by default the machine's. Tests of long waits bring their own. */
  timer?: Timer
  log?: Log
  /** The bundle that it shows: nothing is written then. */
  opened?: Opened
}

/** Runs told at once that a breaker lets go; others ask by themselves when its cooldown is over. */
const mostWaiting = 10_000
/** Graphs of pinned versions kept in memory. */
const graphsKept = 128

/** Opens an installation; makes what is missing. Throws the Problems of `openStore` and `openKeyRing`. */
export async function openInstallation(options: InstallationOptions): Promise<Installation> {
  const { dataDir, origin } = options
  const log = options.log ?? createLog()
  const trustDomain = options.trustDomain ?? 'holdpoint.local'
  const id = `spiffe://${trustDomain}/holdpoint`
  const { checkpointLimits = checkpointLimitsInEnv() } = options
  const store = await openStore(dataDir, {
    readOnly: options.opened !== undefined,
    checkpointLimits: checkpointLimits === 'none' ? undefined : checkpointLimits,
  })
  const timer = options.timer ?? systemTimer
  const keys = openKeyRing(path.join(dataDir, 'keys'), systemClock.now())
  const people = openPeople(store)
  const agents = openAgents(store)
  const threads = new SigningThreads()
  const signer = signerOf(keys, id, threads)
  const keysOf: KeysOf = async (iss) => {
    if (iss === id) return keys.keys
    const agent = await agents.get(iss)
    return agent && keysOfAgent(agent)
  }
  const reachable = options.reachable ?? (await openReachable(dataDir))
  const graphOf = graphsOf(store)
  const book = new RunBook({
    ledger: store.ledger,
    signer,
    timer,
    mint: mintUuid,
    chance: Math.random,
    turnOver: () => setImmediate(),
    graphOf,
    hearErrors: (ids) => whoHears(agents, ids),
    told: (told) => cascades.told(told),
  })
  const cascades = new CascadeWatcher({ book, ledger: store.ledger, log })
  const poolUse = openPoolUse(store)
  const settings = openSettings(store)
  const pools = options.opened
    ? undefined
    : openPoolsOf({
        settings,
        use: poolUse,
        agents,
        timer,
        owner: `${process.pid} ${mintUuid()}`,
        log,
        exhausted: tellExhausted({ book, log }),
      })
  const ports: WorkerPorts = {
    book,
    ledger: store.ledger,
    leases: store.leases,
    signals: store.signals,
    vault: vaultOf(keys),
    signer,
    timer,
    mint: mintUuid,
    tokenHolds: tokenHoldsIn(store.ledger, async (iss) => (await keysOf(iss)) ?? keys.keys),
    runnerOf: (kind) => runnerOf(kind) ?? resolverOf(kind),
    agents: agentsOf(agents, keys, id),
    reach: (options.reach ?? reachOf)(() => installation),
    graphOf,
    childWaits: new ChildWaits(),
    pools: pools ?? openPlaces,
    childrenOf: (runId, node, visit) => childrenOf(store, runId, node, visit),
    installationRoots: options.roots ?? [path.join(dataDir, 'files')],
    unconfined: options.unconfined ?? false,
    rollbackUri: `${origin}/.well-known/atd/rollback`,
    onAppend: (listener) => store.onAppend(listener),
    log,
  }
  const circuits = new CircuitBook({
    store: store.circuits,
    othersWrote: store.ledger.othersWrote,
    signer,
    timer: options.timer ?? timerOfTurns,
    mint: mintUuid,
    log,
    approval: (asked) => store.approvals.get(asked),
    onShared: (shared) => askShared(ports, store.circuits, shared),
    onFree: async (circuit, by) =>
      letGo(ports, await store.circuits.waiting(circuit.id, mostWaiting), circuit, by),
    onSlow: (slow) => cascades.noticed({ kind: 'latency', ...slow }),
  })
  const auth: AuthContext = {
    people,
    agents,
    clock: systemClock,
    ownId: id,
    ownKeys: keys.keys,
    fetchKeys: keyFetcher(agents, systemClock, log),
    sessionSecret: keys.secret('sessions', systemClock.now()).toString('base64url'),
    publicOrigin: origin,
    // Cookies know no ports: it must not sign anybody out of the console beside it.
    ...(options.opened && { sessionCookie: `holdpoint.opened.${options.opened.link.slice(0, 8)}` }),
  }
  const installation: Installation = {
    dataDir,
    publicOrigin: origin,
    id,
    store,
    people,
    agents,
    keys,
    book,
    ports,
    circuits,
    cascades,
    poolUse,
    settings,
    auth,
    answers: openAnswers(store, systemClock),
    agentRates: new AskRates(store.rates, 'requests', requestsPerMinute),
    looks: new Looks(store.rates, ports.timer),
    log,
    policies: policiesOf(options),
    authoredFolders: options.authoredFolders ?? [],
    reachable,
    ...(options.opened && { opened: options.opened }),
    keysOf,
    graphOf,
    personOf: (request) => personOf(auth, request),
    tokenOf: (request) => tokenOf(auth, request),
    joinCall: (request) => joinCall(installation, request),
    async close() {
      await pools?.close()
      await circuits.close()
      await reachable.mcp.close()
      await store.close()
      await threads.close()
    },
  }
  return installation
}

/**
 * Tokens signed here in one turn of the event loop. To have a few signed beside takes longer than to sign them: 100 µs
 * there and back, where signing takes 50 (two cores, ES256).
 */
const signedHere = 4

/** Signs with the ring's current key: a few tokens here, many on threads of their own. */
function signerOf(keys: KeyRing, iss: string, threads: SigningThreads): Signer {
  let thisTurn = 0
  /** True while there are few enough in this turn of the event loop. */
  const isHere = (count: number) => {
    if (thisTurn === 0) {
      void setImmediate().then(() => {
        thisTurn = 0
      })
    }
    thisTurn += count
    return thisTurn <= signedHere
  }
  const here = (claims: Claims) => signClaims(claims, keys.current)
  const beside = (claims: Claims) => threads.sign(claims, keys.current)
  return {
    iss,
    aud: iss,
    sign: (claims) => (isHere(1) ? here(claims) : beside(claims)),
    signAhead: (claims) => threads.sign(claims, keys.current, true),
    signAll: async (list) => (isHere(list.length) ? list.map(here) : Promise.all(list.map(beside))),
    signHead: (head) => signHead(head, keys.current),
  }
}

function vaultOf(keys: KeyRing): Vault {
  return {
    seal(place, state, expiresAt) {
      const { keyId, sealed } = seal(state, place, keys.sealing, systemRandom)
      return { ...place, keyId, sealed, expiresAt }
    },
    open(sealed) {
      // Another process may have rotated and sealed it anew since the keys were read.
      if (!keys.sealing.find(sealed.keyId)) keys.reload()
      return open(sealed.sealed, sealed, keys.sealing)
    },
  }
}

async function childrenOf(store: Store, parent: RunId, node: string, visit: number): Promise<RunId[]> {
  const found: { runId: RunId; index: number }[] = []
  let cursor: string | undefined
  do {
    const page = await store.runs.list({ parent }, { limit: 500, cursor })
    for (const { runId, parent: place } of page.items) {
      if (place?.node === node && place.visit === visit) found.push({ runId, index: place.index })
    }
    cursor = page.next
  } while (cursor !== undefined)
  return found.sort((a, b) => a.index - b.index).map(({ runId }) => runId)
}

function graphsOf(store: Store): (version: string) => Promise<GraphIndex> {
  const kept = new Map<string, Promise<GraphIndex>>()
  async function read(version: string): Promise<GraphIndex> {
    const record = await store.workflows.get(version)
    const graph = record && graphOfRecord(record)
    if (graph) return indexGraph(graph)
    throw new Problem('not_found', `The workflow version ${version.slice(0, 50)} is not stored here`)
  }
  return (version) => {
    const known = kept.get(version)
    if (known) return known
    // The promise is kept, so that two hundred runs which start together read the text once.
    const index = read(version)
    kept.set(version, index)
    index.catch(() => kept.delete(version))
    const [oldest] = kept.keys()
    if (kept.size > graphsKept && oldest !== undefined) kept.delete(oldest)
    return index
  }
}

function graphOfRecord({ mediaType, source }: WorkflowRecord): WorkflowGraph | undefined {
  if (mediaType === derivedMediaType) return JSON.parse(source) as WorkflowGraph
  return readWorkflow(source, nameHint(mediaType)).graph
}

/** Agents that speak AERR are told of errors. */
async function whoHears(agents: AgentStore, ids: string[]): Promise<string[]> {
  const found = await Promise.all(ids.map((id) => agents.get(id)))
  return found.flatMap((agent) =>
    agent && agent.removedAt === undefined && agent.protocols.includes('aerr') ? [agent.id] : [],
  )
}

function agentsOf(agents: AgentStore, keys: KeyRing, iss: string): AgentsOfRun {
  return (wid) => ({
    async find(spiffeId) {
      const agent = await agents.get(spiffeId)
      return agent && agent.removedAt === undefined ? agent : undefined
    },
    signedBy: async (spiffeId, token) => {
      const signed = answerSignedBy(await agents.get(spiffeId), token, iss, systemClock.now())
      if (signed) await agents.heard(spiffeId, systemClock.now()).catch(() => undefined)
      return signed
    },
    async requestToken({ aud, act, par, ext }) {
      const iat = Math.floor(systemClock.now() / 1000)
      const claims = { iss, aud, iat, exp: iat + LIVE_TTL_S, jti: mintUuid(), wid, exec_act: act, par, ext }
      return signClaims(claims, keys.current)
    },
  })
}
