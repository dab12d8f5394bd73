/* The change that a named person approves and takes back, in an installation as `npm start` has it. */
import { access, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Principal } from '@/lib/auth/principal'
import type { RunId } from '@/lib/base/ids'
import { approvalRecord, decideApproval } from '@/lib/server/approvals'
import type { Installation } from '@/lib/server/installation'
import { createLog } from '@/lib/server/log'
import { outcomeOf } from '@/lib/server/one-shot'
import { openInstallation } from '@/lib/server/open-installation'
import { planFor, requestRollback } from '@/lib/server/rollbacks'
import { startRun } from '@/lib/server/runs'
import { importWorkflow } from '@/lib/server/workflows'
import { startWorker, type Worker } from '@/lib/worker/worker'

const ada: Principal = {
  kind: 'person',
  id: 'ada',
  name: 'ada',
  roles: ['operator', 'coordinator', 'admin'],
  session: 's',
}

let dataDir: string
let house: Installation
let worker: Worker

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'hp-held-'))
  // As the server does when it starts.
  await mkdir(path.join(dataDir, 'files'))
  house = await openInstallation({
    dataDir,
    origin: 'http://localhost:3997',
    log: createLog('silent'),
  })
  worker = startWorker(house.ports, 'held')
})
afterEach(async () => {
  await worker.stop()
  await house.close()
  await rm(dataDir, { recursive: true, force: true })
})

const inFiles = (name: string) => path.join(dataDir, 'files', name)
const stands = (name: string) =>
  access(inFiles(name)).then(
    () => true,
    () => false,
  )

async function begun(): Promise<RunId> {
  const filename = 'held-change.toml'
  const text = await readFile(path.join(import.meta.dirname, filename), 'utf8')
  const { record } = await importWorkflow(house, text, { filename, by: 'person:ada' })
  const input = { change: 'neighbor 192.0.2.7 shutdown' }
  return startRun(house, { version: record.version, input, by: 'person:ada', dryRun: false })
}

const settled = (run: RunId) =>
  outcomeOf(house, run, 'person:ada', { timeoutS: 30, signal: new AbortController().signal })

async function decided(run: RunId, verdict: 'approve'): Promise<void> {
  const [asked] = await house.store.approvals.ofRun(run)
  const record = await approvalRecord(house, asked?.id ?? '')
  await decideApproval(house, record, ada, { verdict, action: record.action, comment: 'Seen' })
}

it('waits for a person and changes nothing before', async () => {
  const run = await begun()
  expect(await settled(run)).toMatchObject({ status: 'paused', lastNode: 'approve' })
  expect(await stands('changes')).toBe(false)
})

it('is approved by a named person, and taken back to what was there before', async () => {
  const run = await begun()
  await settled(run)
  await decided(run, 'approve')
  expect(await settled(run)).toMatchObject({ status: 'completed', lastNode: 'apply', reason: '' })
  expect(await readFile(inFiles('changes/edge-router-07.conf'), 'utf8')).toContain('192.0.2.7 shutdown')
  expect(await stands('changes/maintenance.flag')).toBe(true)
  const by = await house.book.read(run, ({ approvals }) => [...approvals.values()][0]?.state)
  expect(by).toMatchObject({ status: 'decided', verdict: 'approve', by: 'person:ada' })

  const node = 'folder'
  const plan = await planFor(house, run, ada, { node, scope: 'sub_dag' })
  expect(plan.forbidden).toBeUndefined()
  const id = await requestRollback(house, run, ada, {
    node,
    scope: plan.scope,
    digest: plan.digest,
    reason: 'The window was called off',
  })
  expect(await settled(run)).toMatchObject({ status: 'paused' })
  const status = await house.book.read(run, ({ rollbacks }) => rollbacks.get(id)?.status)
  expect(status).toBe('completed')
  expect(await stands('changes')).toBe(false)
})
