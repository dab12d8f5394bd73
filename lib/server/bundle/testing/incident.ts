/*
 * An incident as a reviewer meets it: a walk that writes artifacts, asks a person, fails, begins a run below it, and is
 * taken back. What agents wrote in it is hostile.
 */

import { hashJson } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { versionOf } from '@/lib/workflow/versions'
import { idOf, jtiOf, type Told, ToldHouse } from './told-house'

export const hostileText =
  '<script>alert(1)</script>\n<img src=x onerror=alert(2)> {{artifacts.report}} $& \u202Egnp.exe\u202C שלום <!-- --> ]]> "\'`'

const child = graphOf({ look: { kind: 'read_file', label: 'Look at the log' } }, [], { name: 'inspect' })

export const loop = graphOf(
  {
    plan: { kind: 'prompt_state', label: 'Plan the change' },
    work: { kind: 'prompt_state', label: 'Make the change', maxVisits: 3, onMaxVisits: 'done' },
    check: { kind: 'call', label: 'Check <b>it</b>' },
    done: { kind: 'prompt_state', label: 'Done' },
  },
  [],
  {
    name: 'mend-tests',
    description: 'Mends tests until they pass',
    format: 'promptpack',
    order: 'stepwise',
    edges: [
      { from: 'plan', to: 'work', when: 'Planned', extra: {} },
      { from: 'work', to: 'check', when: 'Changed', extra: {} },
      { from: 'check', to: 'work', when: 'Failing', extra: {} },
      { from: 'check', to: 'done', when: 'Passing', extra: {} },
    ],
    starts: [{ name: 'main', node: 'plan' }],
    artifacts: [
      { name: 'report', mediaType: 'application/json', mode: 'replace', extra: {} },
      { name: 'log', mediaType: 'text/html', mode: 'append', extra: {} },
      { name: 'never', mediaType: 'text/plain', mode: 'replace', extra: {} },
    ],
  },
)

export interface Incident {
  house: ToldHouse
  run: RunId
  child: RunId
}

/** Tells it. `into`: the store it is told to; memory unless said. */
export async function tellIncident(house = new ToldHouse()): Promise<Incident> {
  await house.workflow(loop)
  await house.workflow(child)
  const values = {
    input: await house.value({ goal: hostileText }),
    action: await house.value({ kind: 'prompt_state' }),
    output: await house.value({ event: 'Changed' }),
    report: await house.value({ passed: 2, total: 5 }),
    better: await house.value({ passed: 5, total: 5 }),
    log: await house.value(hostileText, 'text/html'),
    bytes: await house.value(Buffer.from([0, 1, 2, 255, 254]), 'application/octet-stream'),
    edited: await house.value({ kind: 'edited' }),
    seen: await house.value({ show: 'diff', title: 'repo', before: 'theirs', after: 'ours' }),
    plan: await house.value({ steps: [] }),
  }
  const sealed = hashJson({ sealed: 'never to be seen' })
  const run = idOf('incident')
  const below = idOf('incident child')
  const visit = (node: string, n = 1) => ({ node, visit: n })
  const attempt = (node: string, n = 1) => ({ node, visit: n, attempt: 1 })
  const begins = (node: string, n = 1): Told => ({
    ...{
      type: 'task_start',
      ...attempt(node, n),
      action: values.action,
      reads: [],
      consequence: 'reversible',
    },
  })
  const sets = (artifact: string, node: string, value: string, mode: 'replace' | 'append', n = 1): Told => ({
    ...{ type: 'artifact_set', ...visit(node, n), artifact, value, mode, by: 'model' },
    mediaType: artifact === 'log' ? 'text/html' : 'application/json',
  })
  const ends = (node: string, label: string, n = 1, more: object = {}): Told => ({
    ...{ type: 'task_complete', ...attempt(node, n), output: values.output, label },
    ...more,
  })
  const told: Told[] = [
    {
      ...{ type: 'workflow_start', wfId: loop.name, description: loop.description, nodeCount: 4 },
      ...{ version: versionOf(loop), by: 'person:ada', dryRun: false, input: values.input, entry: 'plan' },
    },
    begins('plan'),
    ends('plan', 'Planned'),
    {
      ...{
        type: 'approval_asked',
        ...visit('work'),
        approval: 'appr_1',
        kind: 'approval',
        role: 'operator:oncall',
      },
      ...{ reason: 'It changes files', sentence: `Change ${hostileText}`, action: values.action, reads: [] },
      ...{ consequence: 'reversible', target: 'repo', onSilence: 'hold' },
    },
    {
      ...{
        type: 'approval_decided',
        ...visit('work'),
        approval: 'appr_1',
        verdict: 'approve',
        by: 'person:grace',
      },
      ...{
        action: values.action,
        edited: values.edited,
        seen: values.seen,
        comment: `Fine by me ${hostileText}`,
        after: 7_200_000,
      },
    },
    { ...begins('work'), after: 7_201_000 },
    {
      ...{
        type: 'checkpoint',
        ...attempt('work'),
        snapshot: sealed,
        reversible: true,
        rollbackUri: 'https://x/r',
      },
      ...{ target: 'repo', description: 'The files', ttlS: 3600, undo: 'restore', after: 7_201_500 },
    },
    { ...sets('log', 'work', values.log, 'append'), after: 7_202_000 },
    { ...ends('work', 'Changed'), after: 7_203_000 },
    { ...begins('check'), after: 7_204_000 },
    { ...sets('report', 'check', values.report, 'replace'), after: 7_205_000 },
    {
      ...ends('check', 'Failing', 1, { linked: [jtiOf('incident child', 4)] }),
      ...{ par: [jtiOf('incident', 11), jtiOf('incident child', 4)], after: 7_206_000 },
    },
    { ...begins('work', 2), after: 7_207_000 },
    { ...sets('log', 'work', values.bytes, 'append', 2), after: 7_207_500 },
    {
      ...{
        type: 'error',
        ...attempt('work', 2),
        severity: 'error',
        errorType: 'action_failed',
        code: 'tool_failed',
      },
      ...{ description: `The tool said ${hostileText}`, upstream: [jtiOf('incident', 12)], after: 7_208_000 },
    },
    {
      ...{ type: 'rollback_request', rollback: 'rb_1', scope: 'sub_dag', node: 'work', cascade: false },
      ...{ reason: hostileText, by: 'person:grace', plan: values.plan, deadlineAt: 9e12, after: 7_230_000 },
    },
    {
      ...{ type: 'rollback_act', ...visit('work'), rollback: 'rb_1', checkpointId: jtiOf('incident', 7) },
      ...{ undo: 'restore', after: 7_231_000 },
    },
    {
      ...{
        type: 'rollback_act_result',
        ...visit('work'),
        rollback: 'rb_1',
        checkpointId: jtiOf('incident', 7),
      },
      ...{
        status: 'completed',
        stateHashBefore: hashJson(1),
        stateHashAfter: sealed,
        description: 'Put back',
      },
      after: 7_232_000,
    },
    {
      ...{
        type: 'rollback_result',
        rollback: 'rb_1',
        status: 'completed',
        checkpointId: jtiOf('incident', 7),
      },
      ...{ restored: sealed, cascaded: hashJson([]), cascadedCount: 0, after: 7_233_000 },
    },
    { type: 'rollback_choice', rollback: 'rb_1', choice: 'end', by: 'person:grace', after: 7_234_000 },
    {
      ...{ type: 'workflow_complete', wfId: loop.name, terminalStatus: 'rolled_back', elapsedS: 7_235 },
      ...{ reason: 'taken back', after: 7_235_000 },
    },
  ] as Told[]
  await house.run('incident', loop, told)
  await house.run(
    'incident child',
    child,
    [
      {
        ...{
          type: 'workflow_start',
          wfId: child.name,
          description: '',
          nodeCount: 1,
          version: versionOf(child),
        },
        ...{ by: 'person:ada', dryRun: false, input: values.input, parentWid: widText(run), depth: 1 },
        par: [jtiOf('incident', 10)],
      },
      begins('look'),
      { type: 'task_complete', ...attempt('look'), output: values.output },
      {
        ...{
          type: 'workflow_complete',
          wfId: child.name,
          terminalStatus: 'success',
          elapsedS: 1,
          reason: 'done',
        },
      },
    ] as Told[],
    {
      parent: { runId: run, node: 'check', visit: 1, index: 0 },
      startedAt: Date.UTC(2026, 10, 21, 11, 14, 35),
    },
  )
  return { house, run, child: below }
}

function widText(run: RunId): string {
  const hex = run.slice(4)
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
