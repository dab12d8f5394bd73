import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runIdOf } from '@/lib/base/ids'
import type { JsonObject } from '@/lib/base/json'
import { openKeyRing } from '@/lib/ect/keys-file'
import { signClaims } from '@/lib/ect/sign'
import { readWorkflow } from '@/lib/formats/format'
import { nodeKind } from '@/lib/nodes/registry'
import { agentRunner } from '@/lib/runners/agent'
import { noReach } from '@/lib/runners/no-reach'
import { EffectFailed, type Effects } from '@/lib/runners/runner'
import type { GraphNode } from '@/lib/workflow/graph'
import { type Lab, startLab } from './start-lab'

/* The engine's own runner against the lab's own agents, over HTTP, on the workflow that is brought along. */

const folder = mkdtempSync(path.join(tmpdir(), 'lab-runner-'))
const keys = openKeyRing(path.join(folder, 'console'), Date.now())
const wid = randomUUID()
let lab: Lab

beforeAll(async () => {
  lab = await startLab({ dataDir: folder, basePort: 0, consoleJwks: () => keys.jwks() })
})

afterAll(async () => {
  await lab.stop()
  rmSync(folder, { recursive: true })
})

function sign(aud: string, exec_act: string, par: string[], ext: JsonObject): string {
  const iat = Math.floor(Date.now() / 1000)
  const head = { iss: 'spiffe://holdpoint.local/console', iat, exp: iat + 600, jti: randomUUID(), wid }
  return signClaims({ ...head, aud, exec_act, par, ext }, keys.current)
}

function effects(node: GraphNode): Effects {
  return {
    signal: new AbortController().signal,
    idempotencyKey: `${node.id}/1/1`,
    dryRun: false,
    policy: { roots: [], privateTargets: [] },
    installationRoots: [],
    runId: runIdOf(wid),
    agents: {
      find: async (id) => lab.agents.find((agent) => agent.id === id),
      requestToken: async ({ aud, act, par, ext }) => sign(aud, act, par, ext),
    },
    ...noReach,
    now: () => Date.now(),
  }
}

async function nodeNamed(id: string): Promise<GraphNode> {
  const file = path.resolve(import.meta.dirname, '../workflows/bgp-failover-lab.atd.json')
  const { graph } = readWorkflow(await readFile(file, 'utf8'), file, nodeKind)
  return graph?.nodes.find((node) => node.id === id) as GraphNode
}

async function planned(node: GraphNode) {
  const values = {
    at: async () => undefined,
    ofParents: async () => ({}),
    talk: async () => undefined,
    givenEvent: async () => undefined,
    artifacts: async () => [],
    toolCallsLeft: async () => undefined,
  }
  const step = { runId: runIdOf(wid), node, visit: 1, values }
  return agentRunner.describe(await agentRunner.resolve(step), step, effects(node))
}

it('the change is described, held, done, seen to break the monitor, and taken back byte for byte', async () => {
  const file = path.join(folder, 'edge-router-07', 'running-config')
  const before = await readFile(file)
  const update = await nodeNamed('update-bgp-peer')
  const { action, preview } = await planned(update)
  expect(action).toMatchObject({
    consequence: 'reversible',
    undo: 'remote',
    target: 'running-config of edge-router-07',
  })
  expect(preview).toMatchObject({ show: 'diff', before: before.toString() })

  const checkpointId = randomUUID()
  const snapshot = await agentRunner.snapshot?.(action, effects(update), checkpointId)
  if (!snapshot || !agentRunner.undo) throw new Error('The agent runner keeps checkpoints and undoes')
  expect(await agentRunner.probe?.(action, snapshot, effects(update))).toBe('not_taken')
  await agentRunner.perform(action, effects(update), snapshot)
  expect(await readFile(file)).not.toEqual(before)
  expect(await agentRunner.probe?.(action, snapshot, effects(update))).toBe('took_effect')
  expect((await agentRunner.stateHash?.(action, snapshot, effects(update)))?.hash).not.toBe(snapshot.hash)

  const verify = await nodeNamed('verify-session')
  const failure = await agentRunner
    .perform((await planned(verify)).action, effects(verify))
    .catch((e: unknown) => e)
  expect(failure).toBeInstanceOf(EffectFailed)
  expect(failure).toMatchObject({ code: 'exporter_refused', severity: 'critical', retriable: false })

  const requestToken = sign(lab.agents[0]?.id ?? '', 'atd:rollback_request', [checkpointId], {})
  const requestJti = JSON.parse(Buffer.from(requestToken.split('.')[1] ?? '', 'base64url').toString()).jti
  const about = { id: 'rb_1', reason: 'It cut the monitor off.', wid, scope: 'single' as const }
  const asked = { ...about, checkpointId, requestToken, requestJti, deadlineAt: Date.now() + 60_000 }
  const undone = await agentRunner.undo(action, snapshot, effects(update), asked)
  expect(undone).toMatchObject({ status: 'completed', stateHashAfter: snapshot.hash })
  expect(await readFile(file)).toEqual(before)
  expect((await agentRunner.stateHash?.(action, snapshot, effects(update)))?.hash).toBe(snapshot.hash)
})
