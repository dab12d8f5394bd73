import { expect, it } from 'vitest'
import { sha256 } from '@/lib/base/hash'
import { mintUuid } from '@/lib/base/ids'
import type { CircuitState } from '@/lib/breaker/terms'
import { firstPrevHashSync } from '@/lib/ect/chain-node'
import type { CircuitCommit, CircuitName, CircuitToken, ReportedCircuit } from '@/lib/engine/circuit-ports'
import type { Store } from '../store'
import { aRun, firstCommit, nextCommit, running } from '../story'

const closed: CircuitState = { calculated: { status: 'closed', since: 1_000 } }
const open: CircuitState = {
  calculated: {
    status: 'open',
    since: 2_000,
    until: 32_000,
    cooldownS: 30,
    reopened: 0,
    errorRate: 0.75,
    calls: 8,
    failures: 6,
  },
}

function aCircuit(downstream = 'spiffe://example.com/agent/b'): CircuitName {
  return { id: sha256(mintUuid()), wid: mintUuid(), caller: 'workflow:deploy', downstream }
}

function aToken({ id, wid }: CircuitName, seq: number): CircuitToken {
  const jti = mintUuid()
  const prevHash = seq === 1 ? firstPrevHashSync(wid) : sha256(`${id} ${seq - 1}`)
  return {
    circuitId: id,
    seq,
    jti,
    token: `eyJ.${jti}.s`,
    prevHash,
    hash: sha256(`${id} ${seq}`),
    at: seq * 1_000,
  }
}

function change(circuit: CircuitName, expectedRevision: number, state = open): CircuitCommit {
  const tokens = [aToken(circuit, expectedRevision + 1)]
  return { circuit, expectedRevision, state, tokens, at: 2_000 }
}

const quiet = { calls: 0, failed: 0, rejected: 0, totalMs: 0, maxMs: 0 }

/** What every store promises breakers; part of the contract suite. */
export function keepingCircuits(store: () => Store): void {
  const circuits = () => store().circuits

  it('gives back a circuit as it was committed, with its chain', async () => {
    const circuit = aCircuit()
    const [first, second] = [change(circuit, 0), change(circuit, 1, closed)]
    await circuits().commit(first)
    const { circuit: made } = await circuits().commit(second)
    expect(made).toMatchObject({ ...circuit, state: closed, revision: 2, lastHash: second.tokens[0]?.hash })
    expect(await circuits().get(circuit.id)).toEqual(made)
    const all = [...second.tokens, ...first.tokens]
    expect(await circuits().tokens(circuit.id, { limit: 10 })).toEqual(all)
    expect(await circuits().tokens(circuit.id, { before: 2, limit: 10 })).toEqual(first.tokens)
    expect(await circuits().get('none')).toBeUndefined()
  })

  it('lets exactly one of many that change it at once through', async () => {
    const circuit = aCircuit()
    await circuits().commit(change(circuit, 0))
    const rivals = Array.from({ length: 20 }, () => circuits().commit(change(circuit, 1, closed)))
    const outcomes = await Promise.allSettled(rivals)
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const lost = outcomes.find((outcome) => outcome.status === 'rejected')
    expect(lost?.reason).toMatchObject({
      code: 'sequence_taken',
      message: `The breaker ${circuit.id} has 2 tokens and the change was decided at 1; read it and decide again`,
    })
    expect(await circuits().tokens(circuit.id, { limit: 10 })).toHaveLength(2)
  })

  it('lets one probe of a downstream out at a time, whoever calls it', async () => {
    const [one, other] = [aCircuit('backend:probed'), aCircuit('backend:probed')]
    const probing = { since: 2_000, probe: 'p', until: 62_000, cooldownS: 30, reopened: 0 }
    const halfOpen: CircuitState = { calculated: { status: 'half_open', ...probing } }
    for (const circuit of [one, other]) await circuits().commit(change(circuit, 0))
    await circuits().commit(change(one, 1, halfOpen))
    await expect(circuits().commit(change(other, 1, halfOpen))).rejects.toMatchObject({ code: 'probe_taken' })
    expect(await circuits().get(other.id)).toMatchObject({ revision: 1 })
    await circuits().commit({ ...change(other, 1, halfOpen), at: 62_000 })
  })

  it('holds probes again, in the same commit, once one that was let go has failed', async () => {
    const [one, other] = [aCircuit('backend:released'), aCircuit('backend:released')]
    const [{ runId }, { runId: proberId }] = [aRun(), aRun()]
    const probing = { since: 2_000, probe: 'p', until: 62_000, cooldownS: 30, reopened: 0 }
    const halfOpen: CircuitState = { calculated: { status: 'half_open', ...probing } }
    const held = { downstream: one.downstream, runId, approval: 'appr_1', heldAt: 1_000 }
    for (const circuit of [one, other]) await circuits().commit(change(circuit, 0))
    expect(await circuits().hold(held)).toBe(true)
    await expect(circuits().commit(change(one, 1, halfOpen))).rejects.toMatchObject({
      code: 'probe_held',
      message: 'Probes of backend:released are held until a person decides',
    })
    expect(await circuits().letProbesGo(one.downstream, 'appr_0', 1_500)).toBe(false)
    expect(await circuits().letProbesGo(one.downstream, 'appr_1', 1_500)).toBe(true)
    expect(await circuits().letProbesGo(one.downstream, 'appr_1', 1_600)).toBe(false)
    expect((await circuits().news(0)).holds).toEqual([{ ...held, releasedAt: 1_500 }])
    expect((await circuits().commit(change(one, 1, halfOpen))).heldAgain).toBeUndefined()
    const failed = { ...change(one, 2), holdAgain: { runId: proberId } }
    const heldAgain = { ...held, runId: proberId, approval: '', heldAt: 2_000 }
    expect((await circuits().commit(failed)).heldAgain).toEqual(heldAgain)
    await expect(circuits().commit(change(other, 1, halfOpen))).rejects.toMatchObject({ code: 'probe_held' })
    // A failed probe that nobody was asked about holds nothing.
    expect(await circuits().unhold(heldAgain)).toBe(true)
    expect((await circuits().commit({ ...failed, ...change(one, 3) })).heldAgain).toBeUndefined()
    expect((await circuits().news(0)).holds).toEqual([])
  })

  it('tells what changed since, and all holds', async () => {
    const [one, two] = [aCircuit(), aCircuit()]
    const { mark } = (await circuits().commit(change(one, 0))).circuit
    await circuits().commit(change(two, 0))
    expect((await circuits().news(mark)).circuits.map(({ id }) => id)).toEqual([two.id])
    await circuits().commit(change(one, 1, closed))
    const { circuits: changed, holds } = await circuits().news(mark)
    expect(changed.map(({ id }) => id)).toEqual([two.id, one.id])
    expect(holds).toEqual([])
    expect((await circuits().list(10)).map(({ id }) => id)).toEqual([one.id, two.id])
    expect(await circuits().ofDownstream(one.downstream)).toHaveLength(2)
  })

  it('keeps what agents tell of their own breakers, the latest word of each, and so many of one agent', async () => {
    const run = aRun()
    const { runId } = run
    await store().ledger.commit(firstCommit(run))
    let seq = 1
    const told = (...reportedCircuits: ReportedCircuit[]) =>
      store().ledger.commit(nextCommit(run, seq++, 1, { reportedCircuits }))
    const agent = 'spiffe://example.com/agent/c'
    const one = (name: string, at: number, more: Partial<ReportedCircuit> = {}): ReportedCircuit => ({
      ...{ id: sha256(`${agent} ${name}`), caller: agent, downstream: name, status: 'open', errorRate: 0.75 },
      ...{ cooldownS: 30, until: at + 30_000, at, heardAt: at + 1, runId, jti: mintUuid(), ...more },
    })
    const opened = one('b', 2_000)
    await told(opened)
    expect(await circuits().reportedOne(opened.id)).toEqual(opened)
    expect((await circuits().news(0)).reportedAt).toBe(2_001)
    await told(one('b', 1_000, { status: 'closed' }))
    expect(await circuits().reported(0, 10)).toEqual([opened])
    const closed = one('b', 2_000, { status: 'closed', heardAt: 3_000 })
    await told(closed)
    expect(await circuits().reported(3_000, 10)).toEqual([closed])
    expect(await circuits().reported(3_001, 10)).toEqual([])
    await told(...Array.from({ length: 250 }, (_, at) => one(`n${at}`, 5_000 + at)))
    const kept = await circuits().reported(0, 1_000)
    expect([kept.length, kept[0]?.downstream, kept.at(-1)?.downstream]).toEqual([200, 'n249', 'n50'])
    expect(await circuits().reportedOne('none')).toBeUndefined()
  })

  it('makes rows for circuits that nothing happened to, once', async () => {
    const circuit = aCircuit()
    await circuits().ensure([{ ...circuit, state: closed, at: 1_000 }])
    await circuits().commit(change(circuit, 0))
    await circuits().ensure([{ ...circuit, state: closed, at: 9_000 }])
    expect(await circuits().get(circuit.id)).toMatchObject({ state: open, revision: 1 })
  })

  it('counts calls by the second, from everybody, and forgets them', async () => {
    const [circuit, other] = [aCircuit(), aCircuit()]
    const { id } = circuit
    await circuits().ensure([circuit, other].map((one) => ({ ...one, state: closed, at: 1_000 })))
    await circuits().addCalls([
      { ...quiet, circuit: id, second: 10, calls: 2, failed: 1, totalMs: 30, maxMs: 20 },
      { ...quiet, circuit: id, second: 11, calls: 1, rejected: 4, totalMs: 5, maxMs: 5 },
      { ...quiet, circuit: other.id, second: 11, calls: 9, failed: 9 },
    ])
    await circuits().addCalls([
      { ...quiet, circuit: id, second: 10, calls: 1, failed: 1, totalMs: 7, maxMs: 7 },
    ])
    expect(await circuits().callCounts(id, 10)).toEqual({ calls: 4, failures: 2 })
    expect(await circuits().callCounts(id, 11)).toEqual({ calls: 1, failures: 0 })
    expect(await circuits().callCounts('none', 0)).toEqual({ calls: 0, failures: 0 })
    expect(await circuits().calls(10, id)).toEqual([
      { circuit: id, second: 10, calls: 3, failed: 2, rejected: 0, totalMs: 37, maxMs: 20 },
      { circuit: id, second: 11, calls: 1, failed: 0, rejected: 4, totalMs: 5, maxMs: 5 },
    ])
    expect(await circuits().calls(11)).toHaveLength(2)
    expect(await circuits().purgeCalls(11)).toBe(1)
    expect(await circuits().calls(0, id)).toHaveLength(1)
    // What never changed and has no call left goes too.
    expect(await circuits().purgeCalls(12)).toBe(4)
    expect(await circuits().list(10)).toEqual([])
  })

  it('holds a downstream once, until it is let go', async () => {
    const { runId } = aRun()
    const hold = { downstream: 'backend:default', runId, approval: '', heldAt: 5_000 }
    expect(await circuits().hold(hold)).toBe(true)
    expect(await circuits().hold({ ...hold, runId: aRun().runId })).toBe(false)
    const asked = { runId: aRun().runId, approval: 'appr_1' }
    expect(await circuits().nameHold({ ...hold, heldAt: 4_000 }, asked)).toBe(false)
    expect(await circuits().nameHold(hold, asked)).toBe(true)
    expect(await circuits().nameHold(hold, { ...asked, approval: 'appr_2' })).toBe(false)
    const named = { ...hold, ...asked }
    expect((await circuits().news(0)).holds).toEqual([named])
    expect(await circuits().unhold(hold)).toBe(false)
    expect(await circuits().unhold(named)).toBe(true)
    expect(await circuits().unhold(named)).toBe(false)
    expect(await circuits().nameHold(hold, asked)).toBe(false)
  })

  it('lets one of all that want to ask anew do so, and not about probes that were let go', async () => {
    const { runId } = aRun()
    const hold = { downstream: 'backend:anew', runId, approval: '', heldAt: 5_000 }
    await circuits().hold(hold)
    await circuits().nameHold(hold, { runId, approval: 'appr_1' })
    const named = { ...hold, approval: 'appr_1' }
    expect(await circuits().askHoldAnew(hold, 6_000)).toBe(false)
    expect(await circuits().askHoldAnew(named, 6_000)).toBe(true)
    expect(await circuits().askHoldAnew(named, 6_000)).toBe(false)
    const anew = { ...hold, heldAt: 6_000 }
    expect((await circuits().news(0)).holds).toEqual([anew])
    expect(await circuits().nameHold(hold, { runId, approval: 'appr_2' })).toBe(false)
    expect(await circuits().nameHold(anew, { runId, approval: 'appr_2' })).toBe(true)
    expect(await circuits().letProbesGo(hold.downstream, 'appr_2', 7_000)).toBe(true)
    expect(await circuits().askHoldAnew({ ...anew, approval: 'appr_2' }, 8_000)).toBe(false)
  })

  it('knows which runs wait behind a circuit, from the commits of those runs', async () => {
    const [one, two] = [aRun(), aRun()]
    const waiting = (waitsOn: string[]) => ({ projection: { ...running, waitsOn } })
    await store().ledger.commit(firstCommit(one))
    await store().ledger.commit(nextCommit(one, 1, 1, waiting(['a', 'b'])))
    await store().ledger.commit(firstCommit(two, waiting(['b'])))
    expect(await circuits().waiting('b', 10)).toEqual([one.runId, two.runId].sort())
    expect(await circuits().waiting('b', 1)).toHaveLength(1)
    expect(await circuits().waitingCounts()).toEqual([
      { circuit: 'a', runs: 1 },
      { circuit: 'b', runs: 2 },
    ])
    await store().ledger.commit(nextCommit(one, 2, 1))
    expect(await circuits().waiting('a', 10)).toEqual([])
    expect(await circuits().waiting('b', 10)).toEqual([two.runId])
  })
}
