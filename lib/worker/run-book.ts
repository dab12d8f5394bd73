/*
 * The run book: how a wish becomes tokens. For each run this process knows, it holds the fold and the chain's last
 * hash, and lets one commit go on at a time:
 *
 *   wishes queue up ──▶ decide each on the fold ──▶ sign ──▶ chain ──▶ one commit ──▶ wishes are answered
 *
 * Nothing is answered, and no effect starts, before the commit is durable. The store's fence (run, sequence) decides
 * between processes: whoever comes second folds what it missed and decides again, so a wish is always judged on the
 * ledger as it is. When a commit fails for any other reason, the fold is dropped and read anew: what is in memory is
 * never ahead of what is on disk. Only a busy store is given another moment, when a worker asks: what it brings may be
 * the end of an effect, and losing that would leave a question to a person which nobody needs to ask.
 */
import { type Mint, type RunId, widOf } from '@/lib/base/ids'
import type { Json } from '@/lib/base/json'
import { isProblem, Problem } from '@/lib/base/problem'
import { chainHashSync, firstPrevHashSync } from '@/lib/ect/chain-node'
import { type Claims, parseClaims } from '@/lib/ect/claims'
import { HEAD_EVERY_TOKENS, type HeadClaims } from '@/lib/ect/head'
import { unverifiedPayload } from '@/lib/ect/jws'
import type { Command, Decision } from '@/lib/engine/commands'
import { decide } from '@/lib/engine/decide'
import { evolve, newRun } from '@/lib/engine/evolve'
import { claimsOf, factOf } from '@/lib/engine/fact-codec'
import type { Fact } from '@/lib/engine/facts'
import type {
  Commit,
  IdempotentAnswer,
  LeaseRef,
  LedgerRow,
  LedgerStore,
  RunHeader,
  SealedCheckpoint,
  SignedHead,
  StoredValue,
} from '@/lib/engine/ports'
import { approvalProjectionOf, projectionOf } from '@/lib/engine/projection'
import type { Approval, Run } from '@/lib/engine/run'
import type { GraphIndex } from '@/lib/workflow/graph-index'
import { reportedCircuits } from './circuit-reported'
import { leftStates } from './left-states'
import { signalsOf } from './signals-of'
import type { Timer } from './timer'
import { jsonValue } from './values'

/** Signs for this installation. */
export interface Signer {
  iss: string
  aud: string
  sign(claims: Claims): Promise<string> | string
  /** One that nobody waits for yet; absent: as any other. */
  signAhead?(claims: Claims): Promise<string>
  /** The tokens of one commit; absent: one by one. */
  signAll?(list: Claims[]): Promise<string[]>
  signHead(head: HeadClaims): string
}

export interface RunBookPorts {
  ledger: LedgerStore
  signer: Signer
  timer: Timer
  mint: Mint
  chance(): number
  /** The graph of a pinned version; throws Problem `not_found`. */
  graphOf(version: string): Promise<GraphIndex>
  /** Resolves when this turn of the event loop is over: wishes that come in it share a commit. Absent: at once. */
  turnOver?(): Promise<void>
  /** Which of these agents are told of errors (AERR section 5); absent: none. */
  hearErrors?(agents: string[]): Promise<string[]>
  /** Is told of facts right after they became durable. Must not throw, nor take long, nor keep the run. */
  told?: (told: FactsTold) => void
}

/** Facts that were committed, and the run after them. */
export interface FactsTold {
  runId: RunId
  header: RunHeader
  run: Run
  facts: readonly Fact[]
}

/** What goes into the same transaction as the tokens of a command. */
export interface Along {
  create?: RunHeader
  values?: StoredValue[]
  checkpoints?: SealedCheckpoint[]
  lease?: LeaseRef
  /** A worker's signal that it lost its lease. With it, a busy store is tried again for `busyRetryMs`; people are told at once. */
  lost?: AbortSignal
  answer?: (decision: Decision) => IdempotentAnswer
  /** Of a `report`: each token by its id, compact, as its agent signed it. */
  signed?: readonly (readonly [jti: string, token: string])[]
}

/** A command, and others that go right behind it. */
type Commands = readonly [Command, ...Command[]]

/** What became of a command: its facts, or what refused it. */
export type Granted = { decision: Decision } | { refusal: unknown }

/** The first was granted; each of those behind it was, or was refused on its own merits. */
type GrantedAll = readonly [{ decision: Decision }, ...Granted[]]

interface Wish {
  commands: Commands
  along: Along
  /** It was refused on its own merits: whatever becomes of the commit, it is not decided again. */
  answered?: boolean
  resolve(granted: GrantedAll): void
  reject(error: unknown): void
}

interface Entry {
  run: Run
  lastHash: string
  header: RunHeader
  /** Who signs the run's own tokens: the `iss` of its first. */
  home: string
  /** What the store said of others' writes when the ledger was last read. */
  othersWrote?: number
}

interface Page {
  queue: Wish[]
  /** The work under way on this run, one thing at a time. */
  tail: Promise<unknown>
  /** Turns that are waiting or under way. */
  turns: number
  /** Wishes came together of late: the next one waits for those that come in the same turn of the event loop. */
  crowded?: boolean
  entry?: Entry
}

/** Folds kept in memory; the least recently touched go first. */
const pagesKept = 256
const rowsPerRead = 2000
/** A wish that loses the fence this often in a row is refused as busy: somebody writes without end. */
const fenceAttempts = 50
/** Two thirds of a lease: a store that is busy for longer will have cost the lease as well. */
export const busyRetryMs = 20_000
const busyPauseMs = { first: 50, longest: 1600 }

export class RunBook {
  private readonly pages = new Map<RunId, Page>()
  private readonly ports: RunBookPorts
  private readonly signalListeners = new Set<() => void>()

  constructor(ports: RunBookPorts) {
    this.ports = ports
  }

  /**
   * Grants a command and makes it durable; answers with its facts. Throws the Problem that refuses it, or the store's.
   * Wishes that wait while a commit is under way share the next one.
   */
  async execute(runId: RunId, command: Command, along: Along = {}): Promise<Decision> {
    const [{ decision }] = await this.executeAll(runId, [command], along)
    return decision
  }

  /**
   * Grants commands one right behind the other, and makes them durable in one commit: those behind the first only
   * together with it. Throws the Problem that refuses the first, or the store's; then nothing was done.
   */
  async executeAll(runId: RunId, commands: Commands, along: Along = {}): Promise<GrantedAll> {
    const { timer } = this.ports
    const { lost } = along
    const until = timer.now() + busyRetryMs
    for (let pauseMs = busyPauseMs.first; ; pauseMs = Math.min(2 * pauseMs, busyPauseMs.longest)) {
      try {
        return await this.executeOnce(runId, commands, along)
      } catch (error) {
        // Nothing was done. Between two tries the run is free: it is read, and others may be quicker.
        if (!lost || !isProblem(error, 'store_busy') || timer.now() >= until) throw error
        await timer.waitUntil(timer.now() + pauseMs, lost)
        if (lost.aborted) throw error
      }
    }
  }

  private executeOnce(runId: RunId, commands: Commands, along: Along): Promise<GrantedAll> {
    const page = this.page(runId)
    return new Promise((resolve, reject) => {
      page.queue.push({ commands, along, resolve, reject })
      if (page.queue.length === 1) this.inTurn(page, () => this.drain(runId, page))
    })
  }

  /** Reads the run as the ledger is now. The run must not be kept past the callback, nor changed. */
  read<T>(runId: RunId, reader: (run: Run, header: RunHeader) => T | Promise<T>): Promise<T> {
    const page = this.page(runId)
    return this.inTurn(page, async () => {
      const entry = await this.current(runId, page)
      return reader(entry.run, entry.header)
    })
  }

  /** Tells when signals were written here that wait to be sent. Returns how to stop listening. */
  onSignals(listener: () => void): () => void {
    this.signalListeners.add(listener)
    return () => void this.signalListeners.delete(listener)
  }

  /** Drops what is held of a run, so that the next read folds it anew. */
  forget(runId: RunId): void {
    this.pages.delete(runId)
  }

  private page(runId: RunId): Page {
    let page = this.pages.get(runId)
    if (page) this.pages.delete(runId)
    else page = { queue: [], tail: Promise.resolve(), turns: 0 }
    this.pages.set(runId, page)
    if (this.pages.size > pagesKept) this.evict()
    return page
  }

  private evict(): void {
    for (const [runId, page] of this.pages) {
      if (this.pages.size <= pagesKept) return
      if (page.turns === 0) this.pages.delete(runId)
    }
  }

  private inTurn<T>(page: Page, work: () => Promise<T>): Promise<T> {
    page.turns += 1
    const next = page.tail.then(work).finally(() => {
      page.turns -= 1
    })
    page.tail = next.catch(() => undefined)
    return next
  }

  private async drain(runId: RunId, page: Page): Promise<void> {
    if (page.crowded) await this.ports.turnOver?.()
    const wishes = page.queue.splice(0)
    const [first] = wishes
    if (!first) return
    // A lease or an answer belongs to one wish alone; the others may share a commit.
    const alone = wishes.length === 1 || wishes.some((wish) => wish.along.answer || wish.along.create)
    const leases = new Set(wishes.map(({ along: { lease } }) => lease && `${lease.runId} ${lease.epoch}`))
    const groups = alone || leases.size > 1 ? wishes.map((wish) => [wish]) : [wishes]
    for (const group of groups) await this.grant(runId, page, group)
    page.crowded = wishes.length > 1 || page.queue.length > 0
  }

  private async grant(runId: RunId, page: Page, wishes: Wish[]): Promise<void> {
    let fresh = false
    for (let attempt = 1; ; attempt++) {
      try {
        if (await this.grantOnce(runId, page, wishes, fresh)) return
        // Refused on a fold that may be behind another process: judged again on the ledger as it is.
        fresh = true
      } catch (error) {
        page.entry = undefined
        if (isProblem(error, 'sequence_taken') && attempt < fenceAttempts) continue
        // Nothing was done. What one of them brought with it may be at fault: the others are not refused for it.
        if (wishes.length > 1) for (const wish of wishes) await this.grant(runId, page, [wish])
        else if (!wishes[0]?.answered) wishes[0]?.reject(error)
        return
      }
    }
  }

  /**
   * Decides, signs and commits; wishes refused on their own merits are answered and leave the others alone. False when
   * one was refused on a fold that was not read anew: nothing was done.
   */
  private async grantOnce(runId: RunId, page: Page, wishes: Wish[], fresh: boolean): Promise<boolean> {
    const { ports } = this
    const held = fresh ? undefined : page.entry
    const entry = held ?? (await this.current(runId, page, wishes[0]?.along.create))
    const { run } = entry
    const expectedSeq = run.seq
    const openBefore = new Set(run.openApprovals)
    const granted: { wish: Wish; all: GrantedAll }[] = []
    const facts: Fact[] = []
    for (const wish of wishes) {
      if (wish.answered) continue
      const all = this.tryGrant(run, wish, held === undefined, facts)
      if (all === 'stale') {
        if (facts.length > 0) page.entry = undefined
        return false
      }
      if (all) granted.push({ wish, all })
    }
    if (granted.length === 0) return true
    const signed = new Map(granted.flatMap(({ wish }) => wish.along.signed ?? []))
    const rows = await this.chained(runId, entry, expectedSeq, facts, signed)
    const heads = this.headsOf(runId, rows, facts)
    const now = ports.timer.now()
    const approvals = touchedApprovals(run, openBefore, facts).map(approvalProjectionOf)
    const commit: Commit = {
      runId,
      expectedSeq,
      create: wishes[0]?.along.create,
      rows,
      heads,
      values: granted.flatMap(({ wish, all }) => [
        ...(wish.along.values ?? []),
        ...all
          .flatMap((one) => ('decision' in one ? one.decision.values : []))
          .map(({ json }) => jsonValue(json)),
      ]),
      checkpoints: granted.flatMap(({ wish }) => wish.along.checkpoints ?? []),
      projection: projectionOf(run, now),
      approvals,
      lease: granted[0]?.wish.along.lease,
      answer: granted[0]?.wish.along.answer?.(granted[0].all[0].decision),
      signals: await signalsOf(run, facts, ports),
      reportedCircuits: reportedCircuits(runId, run, facts, now),
      leftStates: leftStates(runId, run, facts),
    }
    await ports.ledger.commit(commit)
    if (commit.signals) for (const listener of this.signalListeners) listener()
    entry.lastHash = rows.at(-1)?.hash ?? entry.lastHash
    for (const { wish, all } of granted) wish.resolve(all)
    ports.told?.({ runId, header: entry.header, run, facts })
    return true
  }

  /** Decides a wish on the fold, which goes along, and adds to the facts; undefined where it was refused and answered. */
  private tryGrant(run: Run, wish: Wish, fresh: boolean, facts: Fact[]): GrantedAll | 'stale' | undefined {
    const [command, ...behind] = wish.commands
    const first = this.tryDecide(run, command, facts)
    if ('refusal' in first) {
      if (!fresh) return 'stale'
      wish.answered = true
      wish.reject(first.refusal)
      return undefined
    }
    const all: [{ decision: Decision }, ...Granted[]] = [first]
    for (const next of behind) {
      const granted = this.tryDecide(run, next, facts)
      if ('refusal' in granted && !fresh) return 'stale'
      all.push(granted)
    }
    return all
  }

  private tryDecide(run: Run, command: Command, facts: Fact[]): Granted {
    const { timer, mint, chance } = this.ports
    let decision: Decision
    try {
      decision = decide(run, command, { now: timer.now(), mint, chance: chance() })
    } catch (refusal) {
      return { refusal }
    }
    for (const fact of decision.facts) {
      evolve(run, fact)
      facts.push(fact)
    }
    return { decision }
  }

  /** What agents outside signed stands in the ledger as they did; everything else is signed here. */
  private async chained(
    runId: RunId,
    entry: Entry,
    seq: number,
    facts: Fact[],
    signed: ReadonlyMap<string, string>,
  ): Promise<LedgerRow[]> {
    const { signer } = this.ports
    const frame = {
      iss: entry.home,
      aud: signer.aud,
      wid: entry.header.wid,
      vocabulary: entry.run.graph.graph.vocabulary,
    }
    const own = facts.filter(({ type }) => type !== 'reported').map((fact) => claimsOf(fact, frame))
    const ours = await (signer.signAll?.(own) ?? Promise.all(own.map((claims) => signer.sign(claims))))
    let next = 0
    const tokens = facts.map((fact) =>
      fact.type === 'reported' ? signedBy(fact, signed) : (ours[next++] as string),
    )
    let prevHash = entry.lastHash
    return tokens.map((token, index) => {
      const hash = chainHashSync(prevHash, token)
      const row = { runId, seq: seq + index + 1, jti: (facts[index] as Fact).jti, token, prevHash, hash }
      prevHash = hash
      return row
    })
  }

  private headsOf(runId: RunId, rows: LedgerRow[], facts: Fact[]): SignedHead[] {
    const iat = Math.floor(this.ports.timer.now() / 1000)
    return rows
      .filter((row, index) => row.seq % HEAD_EVERY_TOKENS === 0 || facts[index]?.type === 'workflow_complete')
      .map(({ seq, hash }) => ({
        seq,
        jws: this.ports.signer.signHead({ wid: widOf(runId), seq, hash, iat }),
      }))
  }

  /** The run, folded up to the ledger's last row. */
  private async current(runId: RunId, page: Page, create?: RunHeader): Promise<Entry> {
    const { ledger } = this.ports
    const othersWrote = ledger.othersWrote?.()
    if (page.entry && othersWrote !== undefined && page.entry.othersWrote === othersWrote) return page.entry
    const entry = page.entry ?? (await this.opened(runId, create))
    try {
      for (;;) {
        const rows = await ledger.rows(runId, entry.run.seq, rowsPerRead)
        for (const row of rows) {
          const claims = parseClaims(unverifiedPayload(row.token))
          if (entry.run.seq === 0) entry.home = claims.iss
          evolve(entry.run, factOf(claims, entry.home))
          entry.lastHash = row.hash
        }
        if (rows.length < rowsPerRead) break
      }
      entry.othersWrote = othersWrote
    } catch (error) {
      page.entry = undefined
      throw error
    }
    page.entry = entry
    return entry
  }

  private async opened(runId: RunId, create?: RunHeader): Promise<Entry> {
    const header = (await this.ports.ledger.header(runId)) ?? create
    if (!header) throw new Problem('not_found', `No run is known as "${runId.slice(0, 60)}"`)
    const graph = await this.ports.graphOf(header.version)
    const { iss: home } = this.ports.signer
    return { run: newRun(graph), lastHash: firstPrevHashSync(header.wid), header, home }
  }
}

function signedBy(fact: Fact, signed: ReadonlyMap<string, string>): string {
  const token = signed.get(fact.jti)
  if (token === undefined) throw new Error(`The token ${fact.jti} was reported without its signed text`)
  return token
}

/** Approvals whose row may have changed: those open before or now, and those the facts speak of. */
function touchedApprovals(run: Run, openBefore: Set<string>, facts: Fact[]): Approval[] {
  const ids = new Set<string>()
  for (const fact of facts) if ('approval' in fact) ids.add(fact.approval)
  for (const id of openBefore) if (!run.openApprovals.has(id as Approval['id'])) ids.add(id)
  return [...ids]
    .map((id) => run.approvals.get(id as Approval['id']))
    .filter((approval) => approval !== undefined)
}

/** A JSON value by its hash; undefined when the store does not have it. */
export async function readJson(ledger: LedgerStore, hash: string): Promise<Json | undefined> {
  const value = await ledger.value(hash)
  if (!value) return undefined
  return JSON.parse(Buffer.from(value.bytes).toString('utf8')) as Json
}
