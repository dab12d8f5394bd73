/*
 * Tokens from outside join a run. An agent signs what it does as it does it; here each of its tokens is looked at before
 * it stands in a ledger, one by one and in the order in which they follow one another:
 *
 *   shape ─▶ in the ledger already? ─▶ signature, live rules ─▶ rate ─▶ the run is there, and its agent part of it
 *         the first answer again       keys of its `iss`        403, 429   or a first workflow_start begins it     403
 *   ─▶ DAG: jti new, parents there, times, no cycle, links between runs recorded ─▶ its own claims ─▶ one commit
 *
 * The row is the token as it was signed. What it may change is for the fold to say (lib/engine/evolve-reported.ts): in a
 * run of ours, nothing. A token that has joined opens no door any more: whoever reads it in the ledger cannot use it.
 *
 * A run may be driven by agents alone: a first `workflow_start` under a new `wid` opens one, with a token of ours before
 * it that says who began it. Whom its agents hand work to (`aud`) may report into it as well.
 */
import { refuseReplay, type VerifiedAgent, verifyAgentRequest, verifyAgentToken } from '@/lib/auth/agents'
import { type RunId, runIdOf } from '@/lib/base/ids'
import { isJsonObject, type JsonObject } from '@/lib/base/json'
import { isProblem, Problem } from '@/lib/base/problem'
import { type Claims, parseClaims } from '@/lib/ect/claims'
import { checkAncestry, DagChecker } from '@/lib/ect/dag'
import { TOKEN_MAX_CHARS, unverifiedPayload } from '@/lib/ect/jws'
import { reporterOf } from '@/lib/engine/evolve-reported'
import { factOf } from '@/lib/engine/fact-codec'
import type { FactOf } from '@/lib/engine/facts'
import type { StoredRow } from '@/lib/engine/ports'
import { draftMeaning } from '@/lib/engine/reported'
import type { Run } from '@/lib/engine/run'
import type { AgentRecord } from '@/lib/store/agents'
import { jsonValue } from '@/lib/worker/values'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { AskRates } from './ask-rates'
import { hasPart } from './doors/did-steps'
import { checkpointOf, outside, tellsOf } from './doors/in-chain'
import type { Installation } from './installation'
import { keepDerived } from './workflows'

/** Tokens of one request. */
export const maxTokensAtOnce = 100
/** Tokens that one agent's name may bring in a minute, and runs it may begin. */
const tokensPerMinute = 3_000
const runsPerMinute = 60

/** What became of one token: where it stands, or why it was refused. */
export type TokenAnswer =
  | { status: 'accepted'; jti: string; run: RunId; seq: number }
  | { status: 'refused'; jti?: string; code: string; detail: string }

export interface IngestWish {
  /** Compact tokens. */
  tokens: readonly string[]
  /** The `wid` of each parent that is in another run: parent `jti` → `wid`. */
  links?: Readonly<Record<string, string>>
}

/**
 * Lets tokens join the runs they are of, and says of each what became of it, in the order they came. A token that has
 * joined gets its first answer again. Throws only for what is no refusal: a store that cannot be written.
 */
export async function ingest(
  house: Installation,
  { tokens, links = {} }: IngestWish,
): Promise<TokenAnswer[]> {
  const answers = new Map<number, TokenAnswer>()
  const spent: Spent = new Map()
  const opened: Opened[] = []
  for (const [at, token] of tokens.entries()) {
    try {
      opened.push({ at, token, claims: openedClaims(token) })
    } catch (error) {
      answers.set(at, refused(error))
    }
  }
  const byJti = new Map(opened.map((one) => [one.claims.jti, one]))
  for (const one of inOrder(opened, byJti)) {
    const { jti } = one.claims
    try {
      checkAncestry(one.claims, (id) => byJti.get(id)?.claims.par)
      const { run, seq } = await join(house, one, { links, spent })
      answers.set(one.at, { status: 'accepted', jti, run, seq })
    } catch (error) {
      answers.set(one.at, refused(error, jti))
    }
  }
  for (const [agent, count] of spent) if (count > 1) await ratesOf(house).tokens.owe(agent, count - 1)
  return tokens.map((_, at) => answers.get(at) as TokenAnswer)
}

/** Tokens of one request by agent: the first is paid for before it is looked at, the others at the end, all at once. */
type Spent = Map<string, number>

interface Joining {
  /** Parents in other runs, as `IngestWish` has them. */
  links?: Readonly<Record<string, string>>
  spent?: Spent
  /** False: whoever took the token acts on an error that it states. */
  tells?: boolean
}

interface Opened {
  at: number
  token: string
  /** Not believed before the signature holds. */
  claims: Claims
}

function openedClaims(token: string): Claims {
  if (token.length > TOKEN_MAX_CHARS) {
    throw new Problem('ect_malformed', `A compact token has at most ${TOKEN_MAX_CHARS} characters.`)
  }
  return parseClaims(unverifiedPayload(token))
}

function refused(error: unknown, jti?: string): TokenAnswer {
  if (!isProblem(error) || error.status >= 500) throw error
  return { status: 'refused', ...(jti !== undefined && { jti }), code: error.code, detail: error.message }
}

/** Parents before their children, whatever the order they came in. What stands in a circle comes last, to be refused. */
function inOrder(opened: readonly Opened[], byJti: ReadonlyMap<string, Opened>): Opened[] {
  const placed = new Set<Opened>()
  const order: Opened[] = []
  let left = [...opened]
  while (left.length > 0) {
    const free = left.filter(({ claims }) =>
      claims.par.every((parent) => {
        const other = byJti.get(parent)
        return other === undefined || placed.has(other) || other.claims === claims
      }),
    )
    if (free.length === 0) return [...order, ...left]
    // The end of a run is the last of it, however it was sent.
    const going = free.filter(({ claims }) => draftMeaning(claims.exec_act) !== 'workflow_complete')
    const next = going.length > 0 ? going : free
    for (const one of next) placed.add(one)
    order.push(...next)
    left = left.filter((one) => !placed.has(one))
  }
  return order
}

interface Joined {
  run: RunId
  seq: number
}

async function join(house: Installation, { token, claims: said }: Opened, how: Joining): Promise<Joined> {
  const runId = runIdOf(said.wid)
  const before = await standing(house, runId, said.jti, token)
  if (before) return before
  return joinVerified(house, await verifyAgentToken(house.auth, token, audienceOf(house)), how)
}

/** Names that a token for this installation may be meant for. */
export function audienceOf({ id, publicOrigin }: Pick<Installation, 'id' | 'publicOrigin'>): string[] {
  return [id, publicOrigin, `${publicOrigin}/api/v1/tokens`]
}

/** The token where it stands, as it was signed. Throws Problem `ect_duplicate_jti` where another has its id. */
async function standing(
  { store }: Installation,
  runId: RunId,
  jti: string,
  token: string,
): Promise<Joined | undefined> {
  const row = await store.ledger.row(runId, jti)
  if (!row) return undefined
  if (row.token === token) return { run: runId, seq: row.seq }
  throw new Problem('ect_duplicate_jti', `A token with the jti ${jti} is already in the ledger`, { jti })
}

async function joinVerified(
  house: Installation,
  { claims, principal, token }: VerifiedAgent,
  { links = {}, spent = new Map(), tells = true }: Joining,
): Promise<Joined> {
  const now = house.ports.timer.now()
  const before = spent.get(principal.id) ?? 0
  if (before === 0) await ratesOf(house).tokens.spend(principal.id, now)
  spent.set(principal.id, before + 1)
  const agent = await house.agents.get(principal.id)
  if (!agent) throw outsideRun(principal.id, claims.wid)
  const runId = runIdOf(claims.wid)
  const home = await homeOf(house, runId)
  const fact = factOf(claims, home ?? house.id)
  if (fact.type !== 'reported') throw outsideRun(principal.id, claims.wid)
  checkClaims(fact, agent)
  if (home === undefined) await begin(house, fact, claims, agent)
  await house.book.read(runId, (run) => {
    if (!belongs(run, agent.id)) throw outsideRun(agent.id, claims.wid)
  })
  await checkError(house, runId, fact)
  const linked = await checkDag(house, claims, runId, agent.id, links)
  // From here on it proves nobody's identity; whether it did before does not matter.
  await refuseReplay(house.store.ledger, { claims, principal, token }).catch(refusalOnly)
  try {
    await house.book.execute(runId, { type: 'report', fact, linked }, { signed: [[claims.jti, token]] })
  } catch (error) {
    // Another request may have been quicker with the same token.
    const same = isProblem(error, 'ect_duplicate_jti') && (await standing(house, runId, claims.jti, token))
    if (same) return same
    throw error
  }
  if (tells) await tell(house, runId, fact)
  const row = (await house.store.ledger.row(runId, claims.jti)) as StoredRow
  return { run: runId, seq: row.seq }
}

function refusalOnly(error: unknown): void {
  if (!isProblem(error, 'ect_replayed')) throw error
}

/** One bucket for each kind of flood. */
const rates = new WeakMap<object, { tokens: AskRates; runs: AskRates }>()

function ratesOf({ store }: Installation) {
  const known = rates.get(store)
  if (known) return known
  const made = {
    tokens: new AskRates(store.rates, 'tokens', tokensPerMinute),
    runs: new AskRates(store.rates, 'runs', runsPerMinute),
  }
  rates.set(store, made)
  return made
}

/** The same for a run that is not there and one that the agent is no part of: nobody can find out which runs exist. */
function outsideRun(agent: string, wid: string): Problem {
  return new Problem(
    'agent_outside_run',
    `${agent.slice(0, 200)} has no part in a run ${wid}: it neither began it, is named in its workflow, was handed work there, nor claimed a task; begin a run of its own with atd:workflow_start under a new wid`,
  )
}

/** Who signs the run's own tokens; undefined where there is no such run. */
async function homeOf({ store }: Installation, runId: RunId): Promise<string | undefined> {
  const [first] = await store.ledger.rows(runId, 0, 1)
  return first && parseClaims(unverifiedPayload(first.token)).iss
}

/** True when the agent may report into the run. */
export function belongs(run: Run, agent: string): boolean {
  if (reporterOf(run) === agent || run.start?.by === `agent:${agent}`) return true
  if (run.graph.graph.reported) return run.reported?.handedTo.has(agent) ?? false
  return hasPart(run, agent)
}

const rollbackPaths: readonly string[] = [
  '/.well-known/atd/rollback',
  '/.well-known/cascade/rollback',
  '/.well-known/aerr/rollback',
  '/aerr/rollback',
]

/** What a token of its act must carry (ATD, table of acts). A checkpoint is taken back at its own agent and nowhere else. */
function checkClaims(fact: FactOf<'reported'>, agent: AgentRecord): void {
  if (fact.meaning === 'checkpoint') {
    const missing = [
      fact.outHash === undefined && 'out_hash',
      fact.reversible === undefined && 'reversible',
      fact.rollbackUri === undefined && 'rollback_uri',
      fact.ttlS === undefined && 'ttl',
    ].filter((claim) => claim !== false)
    if (missing.length > 0) throw wrongClaim(fact, `has no usable ${missing.join(', ')}`)
    const { origin } = new URL(agent.baseUrl)
    const uri = URL.canParse(fact.rollbackUri ?? '') ? new URL(fact.rollbackUri ?? '') : undefined
    if (uri?.origin === origin && rollbackPaths.includes(uri.pathname) && uri.search === '') return
    throw new Problem(
      'url_refused',
      `The rollback address of the checkpoint ${fact.jti} is not the agent's own; expected ${origin}${rollbackPaths[0]}`,
    )
  }
  if (fact.meaning === 'error' && fact.severity === undefined) {
    throw wrongClaim(fact, 'has no severity of info, warning, error and critical')
  }
  if (fact.meaning === 'rollback_result' && (fact.status === undefined || fact.checkpointId === undefined)) {
    throw wrongClaim(fact, 'does not say the status of a checkpoint')
  }
}

function wrongClaim({ jti, act }: FactOf<'reported'>, what: string): Problem {
  return new Problem('ect_claim_invalid', `The token ${jti} (${act.slice(0, 60)}) ${what}`)
}

/**
 * The DAG checks of NOTES 1 against the ledger. Returns the parents in other runs, which the agent is part of as well and
 * whose link is recorded. Throws Problem `ect_…`.
 */
async function checkDag(
  house: Installation,
  claims: Claims,
  runId: RunId,
  agent: string,
  links: Readonly<Record<string, string>>,
): Promise<string[]> {
  const { ledger } = house.store
  const dag = new DagChecker()
  const linked: string[] = []
  for (const parent of new Set(claims.par)) {
    const row = await ledger.row(runId, parent)
    const other = row ? undefined : links[parent]
    const found = row ?? (other === undefined ? undefined : await rowElsewhere(house, other, parent, agent))
    if (!found) continue
    const { iat, wid } = parseClaims(unverifiedPayload(found.token))
    dag.add({ jti: parent, par: [], iat, wid })
    if (row) continue
    dag.recordLink(claims.jti, parent)
    linked.push(parent)
  }
  dag.check(claims)
  return linked
}

/** A token of another run, which the agent must be part of. */
async function rowElsewhere(
  house: Installation,
  wid: string,
  jti: string,
  agent: string,
): Promise<StoredRow | undefined> {
  const runId = runIdOf(wid)
  const row = await house.store.ledger.row(runId, jti)
  if (!row) return undefined
  return house.book.read(runId, (run) => (belongs(run, agent) ? row : undefined))
}

/** Ids of runs that this installation derives are version 8: nobody may be there before it. */
const drawnWid = /^[0-9a-f]{8}-[0-9a-f]{4}-[47]/
const plainName = /^[\p{L}\p{N}][\p{L}\p{N} ._:/-]{0,79}$/u
const uuidLike = /^[0-9a-f-]{32,36}$/i

/** A run that an agent begins by reporting it: a token of ours first, which says who it was. */
async function begin(
  house: Installation,
  fact: FactOf<'reported'>,
  claims: Claims,
  agent: AgentRecord,
): Promise<void> {
  if (fact.meaning !== 'workflow_start' || claims.par.length > 0) throw outsideRun(agent.id, claims.wid)
  if (!drawnWid.test(claims.wid)) {
    throw new Problem(
      'ect_claim_invalid',
      `"wid" is ${claims.wid}; expected a random UUID (version 4 or 7) for a new run`,
    )
  }
  await ratesOf(house).runs.spend(agent.id, house.ports.timer.now())
  const wfId = nameIn(claims.ext)
  const name = `${wfId ?? agent.name} (reported)`
  const by = `agent:${agent.id}`
  const version = await keepDerived(house, reportedGraph(name), by)
  const input = jsonValue({ agent: agent.id, ...(wfId && { wf_id: wfId }), description: fact.description })
  const runId = runIdOf(claims.wid)
  try {
    await house.book.execute(
      runId,
      { type: 'start', version, input: input.hash, by, dryRun: false },
      {
        create: { runId, wid: claims.wid, version, workflowName: name, startedBy: by },
        values: [input],
      },
    )
  } catch (error) {
    // Another request has begun it: whether this agent is part of it is asked next.
    if (!isProblem(error, 'run_moved_on') && !isProblem(error, 'sequence_taken')) throw error
  }
}

/** The workflow's name as the agent gives it, where it is a name that people could have given. */
function nameIn(ext: JsonObject | undefined): string | undefined {
  const name = isJsonObject(ext) ? ext['atd.wf_id'] : undefined
  return typeof name === 'string' && plainName.test(name) && !uuidLike.test(name) ? name : undefined
}

function reportedGraph(name: string): WorkflowGraph {
  return {
    name,
    description: 'What agents outside report of themselves',
    format: 'atd',
    order: 'topological',
    vocabulary: 'atd',
    nodes: [],
    edges: [],
    starts: [],
    artifacts: [],
    budget: {},
    policy: { roots: [], privateTargets: [] },
    rules: [],
    reported: true,
    extra: {},
  }
}

/**
 * An error is of an action that its token follows, or of a checkpoint; in a run of ours, of one of the agent's own chain,
 * since there something may follow from it. Throws Problem `ect_claim_invalid`, `rollback_outside_run`.
 */
async function checkError(house: Installation, runId: RunId, fact: FactOf<'reported'>): Promise<void> {
  const { meaning, checkpointId, agent, par } = fact
  if (meaning !== 'error') return
  if (checkpointId === undefined) {
    if (par.length > 0) return
    throw wrongClaim(fact, 'names neither the action that failed among its parents nor a checkpoint')
  }
  if (!(await isOurs(house, runId))) return
  const own = await checkpointOf(house, runId, checkpointId, agent, tellsOf)
  if (!own) throw outside(agent, `checkpoint ${checkpointId}`)
}

function isOurs({ book }: Installation, runId: RunId): Promise<boolean> {
  return book.read(runId, (run) => !run.graph.graph.reported)
}

/** An error of an agent in a run of ours that names a checkpoint is a signal: what follows is for the workflow to say. */
async function tell(house: Installation, runId: RunId, fact: FactOf<'reported'>): Promise<void> {
  const { meaning, checkpointId, severity, errorType, agent, jti, description } = fact
  if (meaning !== 'error' || checkpointId === undefined || severity === undefined) return
  if (!(await isOurs(house, runId))) return
  try {
    await house.book.execute(runId, {
      ...{ type: 'signal', errorId: jti, agent, severity, errorType: errorType ?? 'unknown' },
      ...{ checkpointId, description, upstream: [] },
    })
  } catch (error) {
    // The token stands in any case. A run that is over is not told.
    if (!isProblem(error) || error.status >= 500) throw error
  }
}

/**
 * The `Execution-Context` field of a call: verified, used once, and joined to the run it is of, where its agent is part
 * of one here. Nothing happens without the field. Throws Problem `ect_…` for a token that does not verify or does not fit
 * its run; a token of no run here proves who calls, and no more.
 */
export async function joinCall(house: Installation, request: Request): Promise<VerifiedAgent | undefined> {
  if (!request.headers.has('execution-context')) return undefined
  const { origin, pathname } = new URL(request.url)
  const here = [`${origin}${pathname}`, `${house.publicOrigin}${pathname}`]
  const verified = await verifyAgentRequest(house.auth, request, [...audienceOf(house), ...here])
  await refuseReplay(house.store.ledger, verified)
  await joinIfOurs(house, verified)
  return verified
}

/**
 * The token that an agent showed at a protocol endpoint stands in its run as any other does, where its agent is part of one
 * here and the drafts name its act; a name that an agent made up for its call is no step. `isRequest`: the door acts on it
 * itself, so nothing else follows from it, and where it does not fit its run (it names no parents, or the run is over) it
 * is a request all the same. Throws Problem as `joinCall` does for any other.
 */
export async function joinShown(
  house: Installation,
  verified: VerifiedAgent,
  isRequest: boolean,
): Promise<void> {
  if (draftMeaning(verified.claims.exec_act) === undefined) return
  try {
    await joinIfOurs(house, verified, !isRequest)
  } catch (error) {
    if (!isRequest || !isProblem(error) || error.status >= 500) throw error
  }
}

/**
 * Joins the token of a verified request to its run, where its agent is part of that run; elsewhere it is left alone.
 * `tells`: an error that it states is acted on.
 */
export async function joinIfOurs(house: Installation, verified: VerifiedAgent, tells = true): Promise<void> {
  const runId = runIdOf(verified.claims.wid)
  if (!(await house.store.ledger.header(runId))) return
  const { id } = verified.principal
  if (!(await house.book.read(runId, (run) => belongs(run, id)))) return
  await joinVerified(house, verified, { tells })
}
