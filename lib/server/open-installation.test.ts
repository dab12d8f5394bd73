import fs from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RunId } from '@/lib/base/ids'
import { mintUuid, prefixed, widOf } from '@/lib/base/ids'
import { verifyLedgerNode } from '@/lib/ect/ledger-verify-node'
import type { Run } from '@/lib/engine/run'
import { makePlan } from '@/lib/worker/plan'
import { jsonValue } from '@/lib/worker/values'
import { startWorker, type Worker } from '@/lib/worker/worker'
import type { Installation } from './installation'
import { createLog } from './log'
import { openInstallation } from './open-installation'
import { startRun } from './runs'
import { importWorkflow } from './workflows'

const note = {
  wf_id: 'note',
  description: 'Renders a note, asks, writes it',
  policy: { roots: [{ path: 'notes', access: 'write' }] },
  nodes: [
    {
      id: 'render',
      label: 'Render the note',
      reversible: true,
      hitl_required: false,
      resource_hints: { priority: 'normal', timeout_s: 30 },
      action: { type: 'template_render', template: 'Hello {{name}}\n', input_from: 'trigger' },
    },
    {
      id: 'write',
      label: 'Write the note',
      reversible: true,
      hitl_required: true,
      resource_hints: { priority: 'normal', timeout_s: 30 },
      action: { type: 'write_file', path: 'notes/hello.txt', content_from: 'render.rendered' },
    },
    {
      id: 'read',
      label: 'Read it back',
      reversible: true,
      hitl_required: false,
      resource_hints: { priority: 'normal', timeout_s: 30 },
      action: { type: 'read_file', path: 'notes/hello.txt' },
    },
  ],
  edges: [
    { from: 'render', to: 'write' },
    { from: 'write', to: 'read' },
  ],
}

describe('an installation', () => {
  let dir: string
  let house: Installation
  let worker: Worker

  beforeEach(async () => {
    dir = fs.mkdtempSync(path.join(os.tmpdir(), 'holdpoint-'))
    house = await openInstallation({ dataDir: dir, origin: 'http://localhost:3999', log: createLog('error') })
    worker = startWorker(house.ports, 'test-worker')
  })
  afterEach(async () => {
    await worker.stop()
    await house.close()
    fs.rmSync(dir, { recursive: true, force: true })
  })

  /** Waits until the run looks as told; every append asks again. */
  function until<T>(runId: RunId, look: (run: Run) => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const ask = () =>
        house.book.read(runId, look).then((found) => {
          if (found === undefined) return
          off()
          resolve(found)
        }, reject)
      const off = house.store.onAppend((event) => void (event.runId === runId && ask()))
      void ask()
    })
  }

  it('runs, waits for a person, writes, and puts it back byte for byte', async () => {
    const file = path.join(dir, 'files/notes/hello.txt')
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, Buffer.from([0xff, 0x00, 0x0a]), { mode: 0o640 })
    const { record } = await importWorkflow(house, JSON.stringify(note), { by: 'person:ada' })
    const runId = await startRun(house, {
      version: record.version,
      input: { name: 'Ada' },
      by: 'person:ada',
      dryRun: false,
    })

    const asked = await until(runId, (run) => {
      const [id] = run.openApprovals
      return id && run.approvals.get(id)
    })
    expect(asked.node).toBe('write')
    expect(fs.readFileSync(file)).toEqual(Buffer.from([0xff, 0x00, 0x0a]))

    await house.book.execute(runId, {
      type: 'decide',
      approval: asked.id,
      verdict: 'approve',
      by: 'person:ada',
      action: asked.action,
      comment: 'fine',
    })
    const ended = await until(runId, (run) => (run.state.status === 'ended' ? run.state : undefined))
    expect(ended.terminal).toBe('success')
    expect(fs.readFileSync(file, 'utf8')).toBe('Hello Ada\n')

    const plan = await makePlan(house.ports, runId, { node: 'write', scope: 'sub_dag', mayCoordinate: true })
    expect(plan.forbidden).toBeUndefined()
    expect(plan.counts.restored).toBe(1)
    const stored = jsonValue(plan)
    const rollback = prefixed('rb', mintUuid())
    await house.book.execute(
      runId,
      {
        type: 'roll_back',
        rollback,
        scope: plan.scope,
        node: 'write',
        checkpoints: plan.steps.flatMap((step) => step.checkpointId ?? []),
        plan: stored.hash,
        seq: plan.seq,
        reason: 'test',
        by: 'person:ada',
        deadlineS: 60,
      },
      { values: [stored] },
    )
    const back = await until(runId, (run) =>
      run.state.status === 'rolled_back' ? run.rollbacks.get(rollback) : undefined,
    )
    expect(back.status).toBe('completed')
    expect(fs.readFileSync(file)).toEqual(Buffer.from([0xff, 0x00, 0x0a]))
    expect(fs.statSync(file).mode & 0o777).toBe(0o640)

    await house.book.execute(runId, { type: 'choose', rollback, choice: 'end', by: 'person:ada' })
    expect(
      (await until(runId, (run) => (run.state.status === 'ended' ? run.state : undefined))).terminal,
    ).toBe('rolled_back')

    const rows = await house.store.ledger.rows(runId, 0, 1000)
    const heads = await house.store.ledger.heads(runId)
    const verdict = await verifyLedgerNode({ wid: widOf(runId), rows, heads, keys: house.keys.keys })
    expect(verdict).toMatchObject({ holds: true })
  })

  it('fails a step whose request was answered with a refusal that no edge takes', async () => {
    const refusing = http.createServer((_request, response) => response.writeHead(501).end())
    await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve))
    const { port } = refusing.address() as AddressInfo
    const hints = { priority: 'normal', timeout_s: 30 }
    const text = JSON.stringify({
      wf_id: 'post',
      policy: { private_targets: [`127.0.0.1:${port}`] },
      nodes: [
        {
          id: 'send',
          label: 'Send it',
          reversible: false,
          hitl_required: false,
          resource_hints: hints,
          action: {
            type: 'http_request',
            method: 'POST',
            url: `http://127.0.0.1:${port}/orders`,
            body: { n: 1 },
          },
        },
      ],
      edges: [],
    })
    try {
      const { record } = await importWorkflow(house, text, { by: 'person:ada' })
      const runId = await startRun(house, {
        version: record.version,
        input: {},
        by: 'person:ada',
        dryRun: false,
      })
      const escalated = await until(runId, (run) => {
        const state = run.visits.get('send')?.state
        return state?.status === 'escalated' ? state : undefined
      })
      expect(escalated.error?.code).toBe('answered_error')
      expect(escalated.error?.description).toMatch(
        /answered with status 501, and no edge takes the error branch of Send it/,
      )
    } finally {
      refusing.close()
    }
  })
})
