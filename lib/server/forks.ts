/*
 * Forking: a new run that takes what another one did up to a token as done, and goes on from there. The plan comes first
 * and says what is taken over, where it goes on, and which side effects may happen again; whoever forks names the plan's
 * digest. The plan is made anew at that moment: when the original did more since, or another version was chosen,
 * nothing is begun and the answer carries the new plan. The original is read, never written.
 *
 *   plan ──▶ digest ──▶ the same plan again? ──▶ one commit: start, carried steps, artifacts as edited ──▶ a run like any other
 *
 * What a fork carries leaves no checkpoints in it: this run did not do it, so this run cannot take it back.
 */
import { canonicalJson } from '@/lib/base/canonical-json'
import { type Hash, hashJson } from '@/lib/base/hash'
import { type RunId, runIdOf, widOf } from '@/lib/base/ids'
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import type { Fork } from '@/lib/engine/commands'
import type { Actor } from '@/lib/engine/facts'
import { goesOnWith } from '@/lib/engine/fork-point'
import { laidOutIn } from '@/lib/engine/fork-version'
import type { IdempotentAnswer, StoredValue } from '@/lib/engine/ports'
import type { Run, Visit } from '@/lib/engine/run'
import { EffectFailed } from '@/lib/runners/runner'
import type { ForkArtifact, ForkPlanView, ForkStep } from '@/lib/view/fork-wire'
import { artifactValue, storedArtifact } from '@/lib/worker/artifact-values'
import { readJson } from '@/lib/worker/run-book'
import { jsonValue } from '@/lib/worker/values'
import { leaseMs } from '@/lib/worker/worker'
import type { ArtifactDeclaration, WorkflowGraph } from '@/lib/workflow/graph'
import { type GraphIndex, labelOf } from '@/lib/workflow/graph-index'
import { type TriggerKind, triggerInput } from '@/lib/workflow/trigger-input'
import { type Resting, refuseEdits, restingOn } from './fork-decisions'
import { effectsAfter } from './fork-effects'
import { type Forked, forkPointAt } from './fork-point'
import type { Installation } from './installation'
import { checkMayBegin } from './runs'

/** Of an edited artifact or input, as canonical text. */
export const maxEditBytes = 1024 * 1024
/** Values longer than this are not sent along with a plan. */
const shownBytes = 256 * 1024
const maxNext = 20
/** Versions that may be chosen: the original's own, and the newest. */
const maxVersions = 10
/** Entries of an `append` slot that are put together for a plan. */
const maxEntries = 500

export interface ForkPlace {
  /** Token of the original. */
  at: number
  /** Content hash of the version the fork is pinned to; absent: the original's. */
  version?: string
}

export interface ForkWish extends ForkPlace {
  /** Absent: the original's. */
  input?: Json
  /** Whole values of declared slots, by name. */
  artifacts?: JsonObject
  dryRun: boolean
  reason?: string
  /** Of the plan that was shown. */
  digest: string
  by: Actor
  /** The worker that alone is to do it, until it falls silent; absent: any. */
  keptFor?: string
  answer?: (runId: RunId) => IdempotentAnswer
}

/** A plan with what is needed to carry it out. */
interface Plan {
  view: ForkPlanView
  forked: Forked
  version: string
  graph: GraphIndex
  resting: Resting
}

/**
 * What a fork there would do; changes nothing. Throws Problem `not_found`, `bad_request` for a token the run does not
 * have, `fork_impossible` when the version cannot take the run over.
 */
export async function forkPlan(
  installation: Installation,
  runId: RunId,
  place: ForkPlace,
): Promise<ForkPlanView> {
  return (await planOf(installation, runId, place)).view
}

/**
 * Begins the fork that was planned. Durable when it resolves. Throws Problem `fork_plan_changed` with the new plan in its
 * data, `fork_impossible`, `fork_rests_on_decision` for real edits of what somebody decided on, `input_invalid`, and `bad_request` or `too_large` for an artifact that does not fit its slot.
 */
export async function forkRun(installation: Installation, runId: RunId, wish: ForkWish): Promise<RunId> {
  const { ports, book } = installation
  const plan = await planOf(installation, runId, wish)
  if (plan.view.digest !== wish.digest) {
    throw new Problem(
      'fork_plan_changed',
      'The run, or what a fork of it would do again, is not as the plan showed it, so nothing was begun. Look at the new plan, then fork.',
      { plan: plan.view },
    )
  }
  const { forked, version, graph, resting } = plan
  const { point, header } = forked
  const edits = await editedArtifacts(graph.graph, wish.artifacts ?? {})
  const input = await inputOf(installation, forked, graph.graph, wish.input)
  if (!wish.dryRun) {
    const changed = edits.filter(({ name, stored }) =>
      isAnother(plan.view, name, wish.artifacts?.[name], stored),
    )
    refuseEdits(resting, { input: input.stored !== undefined, artifacts: changed.map(({ name }) => name) })
  }
  const fork: Fork = {
    wid: header.wid,
    seq: point.seq,
    jti: point.jti,
    carried: point.carried,
    edited: edits.map(({ name, stored }) => ({ name, value: stored.hash })),
    ...(point.entry !== undefined && { entry: point.entry }),
    ...(wish.reason !== undefined && { reason: wish.reason }),
  }
  const id = runIdOf(ports.mint())
  const { answer, keptFor: owner, by, dryRun } = wish
  const keptFor = owner === undefined ? undefined : { owner, until: ports.timer.now() + leaseMs }
  await book.execute(
    id,
    { type: 'start', version, input: input.hash, by, dryRun, fork },
    {
      create: {
        runId: id,
        wid: widOf(id),
        version,
        workflowName: graph.graph.name,
        startedBy: by,
        forkOf: runId,
        ...(keptFor && { keptFor }),
      },
      values: [...(input.stored ? [input.stored] : []), ...edits.map(({ stored }) => stored)],
      answer: answer && (() => answer(id)),
    },
  )
  return id
}

/** False for a value sent as it is anyway. */
function isAnother(
  { artifacts }: ForkPlanView,
  name: string,
  value: Json | undefined,
  stored: StoredValue,
): boolean {
  const slot = artifacts.find((one) => one.name === name)
  if (slot?.value === undefined || value === undefined)
    return slot?.mode === 'append' || slot?.hash !== stored.hash
  return canonicalJson(slot.value) !== canonicalJson(value)
}

async function planOf(installation: Installation, runId: RunId, place: ForkPlace): Promise<Plan> {
  const forked = await forkPointAt(installation, runId, place.at)
  const { header, graph: from, point } = forked
  const version = place.version ?? header.version
  const versions = await versionsOf(installation, forked, version)
  const chosen = versions.find((one) => one.version === version)
  if (!chosen?.graph || !chosen.run) {
    throw new Problem(
      'fork_impossible',
      chosen?.refusal ?? (await whyNoChoice(installation, header.workflowName, version)),
    )
  }
  const { graph, run } = chosen
  const { effects, more } = await effectsAfter(installation, runId, header.workflowName, point)
  const next = goesOnWith(run)
  const meant = goesOnWith(laidOutIn(from, from, point).run ?? run)[0]
  const takenBack = await takenBackSince(installation, runId, forked)
  const row = await installation.store.runs.get(runId)
  const resting = await restingOn(installation, runId, forked)
  const isElsewhere = meant && next[0]?.node !== meant.node && point.run.walk !== undefined
  const view: Omit<ForkPlanView, 'digest'> = {
    run: runId,
    workflow: header.workflowName,
    at: point.seq,
    time: point.at,
    elapsedMs: point.at - (point.run.start?.at ?? point.at),
    seq: row?.seq ?? point.seq,
    version,
    carried: point.visits.length,
    takenBack,
    ...afterOf(graph, run),
    next: next.slice(0, maxNext).map((visit) => stepOf(graph, visit)),
    nextCount: next.length,
    ...(isElsewhere && { insteadOf: stepOf(from, meant) }),
    artifacts: (await artifactsOf(installation, graph.graph, run)).map((slot) => {
      const restsOn = resting.slot(slot.name)
      return restsOn ? { ...slot, restsOn } : slot
    }),
    input: {
      ...(await inputView(installation, from.graph, point.run.start?.input ?? '')),
      ...(resting.input && { restsOn: resting.input }),
    },
    ...(resting.held !== undefined && { held: resting.held }),
    versions: versions.map(({ version: hash, importedAt, original, refusal }) => ({
      version: hash,
      importedAt,
      original,
      ...(refusal !== undefined && { refusal }),
    })),
    effects,
    moreEffects: more,
    originalIsDry: point.run.start?.dryRun ?? false,
  }
  return { view: { ...view, digest: digestOf(forked, view) }, forked, version, graph, resting }
}

/** Over what would be carried and done again, never over time or words: waiting alone does not change a plan. */
function digestOf({ point }: Forked, view: Omit<ForkPlanView, 'digest'>): Hash {
  return hashJson({
    run: view.run,
    at: point.seq,
    jti: point.jti,
    version: view.version,
    carried: point.carried,
    takenBack: view.takenBack,
    next: view.next,
    effects: view.effects.map(({ run, node, visit, happened }) => [run, node, visit, happened]),
    moreEffects: view.moreEffects,
  })
}

function stepOf(graph: GraphIndex, { node, visit }: Pick<Visit, 'node' | 'visit'>): ForkStep {
  return { node, label: labelOf(graph, node), visit }
}

/** The last step that is carried of a walk, and the event it ended with. */
function afterOf(graph: GraphIndex, { walk }: Run): Pick<ForkPlanView, 'after'> {
  const last = walk?.path.findLast(({ visit }) => visit.state.status === 'done')?.visit
  if (last?.state.status !== 'done') return {}
  const { label } = last.state
  return { after: { ...stepOf(graph, last), ...(label !== undefined && { event: label }) } }
}

/** Carried steps that the original took back after the position: their effects are not there any more. */
async function takenBackSince(
  { book }: Installation,
  runId: RunId,
  { graph, point }: Forked,
): Promise<ForkStep[]> {
  return book.read(runId, (now) => {
    const rolledBack = new Set<string>()
    for (const visits of [[...now.visits.values()], ...now.past.values()]) {
      for (const { node, visit, state } of visits)
        if (state.status === 'rolled_back') rolledBack.add(`${visit} ${node}`)
    }
    return point.visits
      .filter(({ node, visit }) => rolledBack.has(`${visit} ${node}`))
      .map(({ node, carriedAs }) => stepOf(graph, { node, visit: carriedAs }))
  })
}

interface Choice {
  version: string
  importedAt: number
  original: boolean
  graph?: GraphIndex
  /** The run as it would stand in it. */
  run?: Run
  refusal?: string
}

/** The original's own version and newer ones of the same workflow, newest first; the one that was asked for is among them. */
async function versionsOf(installation: Installation, forked: Forked, asked: string): Promise<Choice[]> {
  const { header, graph: from, point } = forked
  const { workflows } = installation.store
  const own = await workflows.get(header.version)
  const since = own?.importedAt ?? 0
  const stored = await workflows.versions(header.workflowName)
  // A version that nobody wrote, of a child run, has no newer ones.
  const isListed = stored.some(({ version }) => version === header.version)
  const newer = stored.filter(
    ({ version, importedAt }) => isListed && version !== header.version && importedAt >= since,
  )
  const shown = newer.filter(({ version }, at) => at < maxVersions - 1 || version === asked)
  const choices: Choice[] = []
  for (const { version, importedAt } of shown) {
    const graph = await installation.graphOf(version)
    choices.push({ version, importedAt, original: false, graph, ...laidOutIn(from, graph, point) })
  }
  choices.push({
    version: header.version,
    importedAt: since,
    original: true,
    graph: from,
    ...laidOutIn(from, from, point),
  })
  return choices
}

async function whyNoChoice({ store }: Installation, workflow: string, version: string): Promise<string> {
  const record = await store.workflows.get(version)
  if (!record)
    return `No workflow version is stored as "${version.slice(0, 50)}"; a fork keeps the run's own, or takes a newer one`
  return record.name === workflow
    ? `Version ${version.slice(0, 8)} of ${workflow} is older than the run's own; a fork takes that one or a newer one`
    : `Version ${version.slice(0, 8)} is of another workflow, ${record.name}; a fork stays with ${workflow}`
}

async function artifactsOf(
  installation: Installation,
  graph: WorkflowGraph,
  run: Run,
): Promise<ForkArtifact[]> {
  const { ledger } = installation.store
  return Promise.all(
    graph.artifacts.map(async (slot): Promise<ForkArtifact> => {
      const { name, mediaType, mode, extra } = slot
      const writes = run.artifacts.get(name) ?? []
      const description = typeof extra.description === 'string' ? extra.description.slice(0, 400) : ''
      const common = { name, mediaType, mode, description, entries: writes.length }
      const last = writes.at(-1)
      if (!last) return common
      const told = { ...common, hash: last.value }
      if (writes.length > maxEntries || !isEditable(mediaType)) return told
      const value = await artifactValue(ledger, writes)
      const size = value === undefined ? 0 : sizeOf(value)
      return { ...told, size, ...(value !== undefined && size <= shownBytes && { value }) }
    }),
  )
}

/** Texts and JSON are edited as what they are; bytes are replaced. */
function isEditable(mediaType: string): boolean {
  return isJsonType(mediaType) || mediaType.startsWith('text/')
}

function isJsonType(mediaType: string): boolean {
  return /[/+]json\s*(;|$)/i.test(mediaType)
}

function sizeOf(value: Json): number {
  return Buffer.byteLength(typeof value === 'string' ? value : canonicalJson(value))
}

/** The values to keep, each checked against its slot. */
async function editedArtifacts(
  graph: WorkflowGraph,
  artifacts: JsonObject,
): Promise<{ name: string; stored: StoredValue }[]> {
  return Object.entries(artifacts).map(([name, value]) => {
    const slot = graph.artifacts.find((declared) => declared.name === name)
    if (!slot) {
      const known = graph.artifacts.map((declared) => declared.name).join(', ') || 'none'
      throw new Problem(
        'bad_request',
        `The workflow declares no artifact "${name.slice(0, 80)}"; it has ${known}`,
      )
    }
    return { name, stored: kept(slot, value) }
  })
}

function kept(slot: ArtifactDeclaration, value: Json): StoredValue {
  const { name, mediaType, mode } = slot
  if (!isJsonType(mediaType) && typeof value !== 'string') {
    throw new Problem('bad_request', `The artifact "${name}" is ${mediaType}; send its value as a text`, {
      artifact: name,
    })
  }
  if (isJsonType(mediaType) && mode === 'append' && !Array.isArray(value)) {
    throw new Problem(
      'bad_request',
      `The artifact "${name}" is a list that is added to; send its value as a list`,
      {
        artifact: name,
      },
    )
  }
  const size = boundedSize(name, value)
  if (size > maxEditBytes) {
    throw new Problem(
      'too_large',
      `The artifact "${name}" would have ${size.toLocaleString('en')} bytes; a fork gives at most ${maxEditBytes.toLocaleString('en')}`,
      { artifact: name },
    )
  }
  try {
    return storedArtifact(slot, value)
  } catch (error) {
    if (error instanceof EffectFailed) throw new Problem('too_large', error.message, { artifact: name })
    throw error
  }
}

function boundedSize(name: string, value: Json): number {
  try {
    return sizeOf(value)
  } catch {
    throw new Problem(
      'bad_request',
      `The artifact "${name}" holds half a character or a number too large for a number; such values cannot be kept`,
      { artifact: name },
    )
  }
}

/** The input as people gave it: without what tells an agentd workflow what began it. */
async function inputView(
  installation: Installation,
  graph: WorkflowGraph,
  hash: Hash,
): Promise<ForkPlanView['input']> {
  const value = await installation.store.ledger.value(hash)
  if (!value) return { hash, size: 0 }
  const size = value.bytes.byteLength
  if (size > shownBytes) return { hash, size }
  return { hash, size, json: payloadOf(graph, JSON.parse(Buffer.from(value.bytes).toString('utf8')) as Json) }
}

/** The reverse of `triggerInput`. */
function payloadOf(graph: WorkflowGraph, input: Json): Json {
  if (graph.format !== 'agentd' || !isJsonObject(input)) return input
  const { kind: _kind, ...payload } = input
  const members = Object.keys(payload)
  const inner = payload.input
  return members.length === 1 && inner !== undefined && !isJsonObject(inner) ? inner : payload
}

/** The input's hash, and its value when it is not the original's: checked as for any run that begins. */
async function inputOf(
  installation: Installation,
  { point }: Forked,
  graph: WorkflowGraph,
  edited: Json | undefined,
): Promise<{ hash: Hash; stored?: StoredValue }> {
  const hash = point.run.start?.input ?? ''
  const before = (await readJson(installation.store.ledger, hash)) ?? {}
  const payload = edited ?? payloadOf(graph, before)
  await checkMayBegin(installation, graph, payload)
  if (edited === undefined) return { hash }
  const kind =
    isJsonObject(before) && typeof before.kind === 'string' ? (before.kind as TriggerKind) : 'manual'
  const stored = jsonValue(triggerInput(graph, kind, payload))
  if (stored.hash === hash) return { hash }
  if (stored.bytes.byteLength > maxEditBytes) {
    throw new Problem(
      'too_large',
      `The input has ${stored.bytes.byteLength.toLocaleString('en')} bytes; a fork takes at most ${maxEditBytes.toLocaleString('en')}`,
    )
  }
  return { hash: stored.hash, stored }
}
