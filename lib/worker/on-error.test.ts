/** What an error leads to by itself: a rollback in the engine's name, a question, or nothing. */
import fs from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mintUuid, type RunId } from '@/lib/base/ids'
import { parseClaims } from '@/lib/ect/claims'
import { unverifiedPayload } from '@/lib/ect/jws'
import { errorsDue } from '@/lib/engine/follow-error'
import type { Run } from '@/lib/engine/run'
import { postAerrError } from '@/lib/server/handlers/aerr'
import { ingest } from '@/lib/server/ingest'
import { DoorsScene, knock, type TestAgent } from '@/lib/server/testing/doors-scene'

let scene: DoorsScene
beforeAll(async () => {
  scene = await DoorsScene.open()
})
afterAll(() => scene.close())

/** Agent A tells of an error at the checkpoint. */
function tell(runId: RunId, checkpoint: string, severity: string) {
  const body = {
    error_id: `urn:uuid:${mintUuid()}`,
    severity,
    checkpoint_id: `urn:uuid:${checkpoint}`,
    error_type: 'action_failed',
    description: 'the session did not come up',
    upstream_errors: [],
  }
  return knock(postAerrError, { path: '/aerr/error', token: scene.a.token('atd:error', runId), body })
}

const question = (run: Run) => {
  const asked = [...run.openApprovals].map((id) => run.approvals.get(id))
  return asked.find((open) => open?.kind === 'agent_error')
}
const rolledBack = (run: Run) => {
  const [rollback] = run.rollbacks.values()
  return rollback?.status !== undefined ? rollback : undefined
}
const containment = (onError: string) => ({ more: { containment: { on_error: onError } } })

describe('an error that an agent tells of', () => {
  it('takes the named step back where the workflow says so, in the engine’s name, once', async () => {
    const { runId, checkpoint } = await scene.written('as it was\n', containment('rollback'))
    expect((await tell(runId, checkpoint, 'critical')).status).toBe(202)
    const rollback = await scene.until(runId, rolledBack)
    expect(rollback).toMatchObject({ by: 'engine', status: 'completed', scope: 'single', node: 'write' })
    expect(rollback.reason).toContain(
      'told of a critical error at Write the note: the session did not come up',
    )
    expect(fs.readFileSync(scene.file, 'utf8')).toBe('as it was\n')
    const claimsOf = async (jti: string) => {
      const row = await scene.house.store.ledger.row(runId, jti)
      return parseClaims(unverifiedPayload(row?.token ?? ''))
    }
    const { par } = await claimsOf(rollback.requestJti)
    const causes = await Promise.all(par.map(claimsOf))
    expect(causes.map(({ exec_act }) => exec_act)).toEqual(['atd:checkpoint', 'hp:signal_received'])
    expect(await scene.house.book.read(runId, (run) => [run.rollbacks.size, errorsDue(run).length])).toEqual([
      1, 0,
    ])
  })

  it('comes to nothing when its token names a step of another chain', async () => {
    const apart = { edges: [{ from: 'look', to: 'write' }], containment: { on_error: 'rollback' } }
    const { runId, checkpoint } = await scene.written('as it was\n', { more: apart })
    await scene.does(runId, 'report', scene.b)
    const claims = { severity: 'critical', error_type: 'action_failed', checkpoint_id: checkpoint }
    const ext = Object.fromEntries(Object.entries(claims).map(([claim, said]) => [`atd.${claim}`, said]))
    const report = (agent: TestAgent, par: string[], said: object) =>
      ingest(scene.house, { tokens: [agent.token('atd:error', runId, { par, ext: { ...ext, ...said } })] })
    const [start] = await scene.house.store.ledger.rows(runId, 0, 1)
    const stranger = {
      status: 'refused',
      code: 'rollback_outside_run',
      detail: `${scene.b.id} has no part in the run of checkpoint ${checkpoint} that would let it ask; only agents of the same run may.`,
    }
    expect(await report(scene.b, [checkpoint], {})).toMatchObject([stranger])
    const nothing = { status: 'refused', code: 'ect_claim_invalid' }
    const [unnamed] = await report(scene.b, [], { 'atd.checkpoint_id': 7 })
    expect(unnamed).toMatchObject(nothing)
    expect(unnamed).toMatchObject({ detail: expect.stringContaining('nor a checkpoint') })
    // Of an action of its own it may tell: that is recorded, and nothing follows.
    expect(await report(scene.b, [start?.jti ?? ''], { 'atd.checkpoint_id': 7 })).toMatchObject([
      { status: 'accepted' },
    ])
    expect(await scene.house.book.read(runId, (run) => [run.signals.size, run.rollbacks.size])).toEqual([
      0, 0,
    ])
    expect(fs.readFileSync(scene.file, 'utf8')).toBe('Hello\n')
    expect(await report(scene.a, [checkpoint], {})).toMatchObject([{ status: 'accepted' }])
    expect(await scene.until(runId, rolledBack)).toMatchObject({ by: 'engine', node: 'write' })
  })

  it('asks a person where the step cannot be undone', async () => {
    const changed = { ...containment('rollback'), write: { reversible: false } }
    const { runId, checkpoint } = await scene.written('x', changed)
    await tell(runId, checkpoint, 'error')
    const asked = await scene.until(runId, question)
    expect(asked).toMatchObject({ node: 'write', role: 'operator' })
    expect(asked.sentence).toBe(
      `${scene.a.id} told of an error at Write the note: the session did not come up`,
    )
    expect(await scene.house.book.read(runId, (run) => run.rollbacks.size)).toBe(0)
  })

  it('asks a person where the workflow says nothing, also when the run has ended', async () => {
    const { runId, checkpoint } = await scene.written()
    await scene.does(runId, 'report', scene.b)
    await scene.until(runId, (run) => (run.state.status === 'ended' ? true : undefined))
    await tell(runId, checkpoint, 'error')
    await scene.until(runId, question)
  })

  it('leads to nothing as a warning, or where the workflow wants nothing', async () => {
    const quiet = await scene.written('x', containment('nothing'))
    await tell(quiet.runId, quiet.checkpoint, 'critical')
    const warned = await scene.written()
    await tell(warned.runId, warned.checkpoint, 'warning')
    for (const { runId } of [quiet, warned]) {
      expect(await scene.house.book.read(runId, (run) => [run.signals.size, errorsDue(run).length])).toEqual([
        1, 0,
      ])
    }
  })
})

describe('an error of a step', () => {
  const failing = {
    action: { type: 'write_file', path: 'notes/hello.txt/below.txt', content: 'x' },
  }

  it('asks a person where its author says so, before the run ends', async () => {
    fs.writeFileSync(scene.file, 'x')
    const { runId } = await scene.begun({ ...containment('escalate'), write: failing })
    const asked = await scene.until(runId, question)
    expect(asked.sentence).toContain('Write the note ended in an error')
    expect(await scene.house.book.read(runId, (run) => run.state.status)).toBe('running')
    await scene.house.book.execute(runId, {
      type: 'decide',
      approval: asked.id,
      verdict: 'acknowledge',
      by: 'person:ada',
      action: asked.action,
      comment: '',
    })
    const ended = await scene.until(runId, (run) => (run.state.status === 'ended' ? run.state : undefined))
    expect(ended.terminal).toBe('failed')
  })

  it('leads to nothing where nobody says so', async () => {
    const { runId } = await scene.begun({ write: failing })
    await scene.until(runId, (run) => (run.state.status === 'ended' ? true : undefined))
    expect(await scene.house.book.read(runId, (run) => run.approvals.size)).toBe(0)
  })
})
