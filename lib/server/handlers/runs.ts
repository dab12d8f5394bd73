import { z } from 'zod'
import { actorOf, holds, type Principal } from '@/lib/auth/principal'
import type { RunId } from '@/lib/base/ids'
import type { Json } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import type { Command } from '@/lib/engine/commands'
import type { RunRecord } from '@/lib/store/store'
import { runRowOf } from '@/lib/view/rows'
import type { LedgerPage, RunDetail, RunRow, ValueView } from '@/lib/view/run-wire'
import type { Page } from '@/lib/view/wire'
import { labelOf } from '@/lib/workflow/graph-index'
import { childrenOf, rowsWithWaits } from '../children'
import { route } from '../current'
import { type PageRequest, pageOf, queryOf } from '../http/paging'
import { json, roleMissing } from '../http/route'
import type { Installation } from '../installation'
import { refuseOpenDependency } from '../open-dependency'
import { refuseUnapproved } from '../plans'
import { runIdFrom } from '../run-id'
import { speaksOf } from '../run-values'
import { startRun } from '../runs'

const statuses = [
  'running',
  'waiting',
  'paused',
  'cancelling',
  'rolling_back',
  'rolled_back',
  'ended',
] as const
const terminals = ['success', 'partial', 'failed', 'escalated'] as const
const stops = ['cancelled', 'exhausted', 'flagged'] as const

const listQuery = z.object({
  status: z.enum([...statuses, ...terminals, ...stops]).optional(),
  workflow: z.string().max(200).optional(),
  text: z.string().max(200).optional(),
  /** Runs that steps of that run began; without it, runs of their own. */
  parent: z.string().max(60).optional(),
  /** Of those, the ones that this visit of a step began. */
  node: z.string().min(1).max(300).optional(),
  visit: z.coerce.number().int().min(1).max(1_000_000).optional(),
  cursor: z.string().optional(),
  limit: z.string().optional(),
})

/** `GET /api/v1/runs` */
export const listRuns = route(
  { auth: 'either', scope: 'runs:read', role: 'viewer' },
  async ({ installation, url }) => {
    return json(await runPage(installation, queryOf(url, listQuery), pageOf(url)))
  },
)

/** What a list of runs is narrowed by, as it was asked. */
export interface RunListWish {
  status?: string
  workflow?: string
  text?: string
  parent?: string
  node?: string
  visit?: number
}

/** One page of the runs that a filter leaves, newest first. A status that is none filters nothing. */
export async function runPage(
  installation: Installation,
  { status, workflow, text, parent, node, visit = 1 }: RunListWish,
  page: PageRequest,
): Promise<Page<RunRow>> {
  const open = statuses.find((known) => known === status)
  const ended = terminals.find((known) => known === status)
  // ATD calls what was cancelled, or came to a limit, failed; whoever looks for failures does not mean it.
  const stopped = stops.find((known) => known === status) ?? (ended && 'none')
  const of = parent === undefined ? 'none' : runIdFrom(parent)
  const filter = {
    status: open && [open],
    terminal: ended && [ended],
    stopped,
    workflow,
    text,
    parent: of,
    parentStep: node === undefined ? undefined : { node, visit },
  } as const
  const { items, next } = await installation.store.runs.list(filter, page)
  return { items: await rowsWithWaits(installation, items), next }
}

const startBody = z.strictObject({
  /** Content hash of a version, or the workflow's name for its newest version. */
  workflow: z.string().min(1).max(300),
  input: z.json().optional(),
  dry_run: z.boolean().optional(),
  /** Name of a start; absent: the workflow's first. */
  start: z.string().min(1).max(128).optional(),
})

/** `POST /api/v1/runs` */
export const postRun = route(
  { auth: 'either', scope: 'runs:write', body: startBody, idempotent: true, maxBodyBytes: 4 * 1024 * 1024 },
  async ({ installation, body, principal, idempotency }) => {
    if (!holds(principal, 'operator') && !holds(principal, 'author')) throw roleMissing(principal, 'operator')
    const version = await versionNamed(installation, body.workflow)
    if (!body.dry_run) await refuseOpenDependency(installation, (await installation.graphOf(version)).graph)
    const runId = await startRun(installation, {
      version,
      input: (body.input ?? {}) as Json,
      by: actorOf(principal),
      dryRun: body.dry_run ?? false,
      start: body.start,
      answer: idempotency && ((id) => idempotency.answer(201, JSON.stringify({ id }))),
    })
    return json({ id: runId }, { status: 201 })
  },
)

async function versionNamed(installation: Installation, name: string): Promise<string> {
  const { workflows } = installation.store
  if (await workflows.get(name)) return name
  const [newest] = await workflows.versions(name)
  if (newest) return newest.version
  refuseUnapproved(installation, name)
  throw new Problem('not_found', `No workflow is stored as "${name.slice(0, 80)}"; import it first`)
}

/** `GET /api/v1/runs/{run}` */
export const getRun = route({ auth: 'either', scope: 'runs:read', role: 'viewer' }, async (call) => {
  const { installation, params, principal } = call
  return json(await runDetailOf(installation, principal, runIdFrom(params.run)))
})

/** What a page of the run needs before its ledger. Throws Problem `not_found`. */
export async function runDetailOf(
  installation: Installation,
  principal: Principal,
  runId: RunId,
): Promise<RunDetail> {
  const record = await installation.store.runs.get(runId)
  if (!record) throw new Problem('not_found', `No run is known as "${runId}"`)
  const { graph } = await installation.graphOf(record.version)
  const position = await installation.store.ledger.lastPosition()
  return {
    row: runRowOf(record),
    graph,
    seq: record.seq,
    position,
    may: {
      operate: holds(principal, 'operator'),
      rollBack: holds(principal, 'operator'),
      rollBackAll: holds(principal, 'coordinator'),
      exports: installation.opened === undefined,
    },
    parent: await parentOf(installation, record),
  }
}

/** `GET /api/v1/runs/{run}/children`: how the runs stand that its steps began. */
export const getChildren = route({ auth: 'either', scope: 'runs:read', role: 'viewer' }, async (call) => {
  const runId = runIdFrom(call.params.run)
  if (!(await call.installation.store.ledger.header(runId)))
    throw new Problem('not_found', `No run is known as "${runId}"`)
  return json(await childrenOf(call.installation, runId))
})

/** Whence a run came, for the way back to it. */
async function parentOf(installation: Installation, { parent }: RunRecord): Promise<RunDetail['parent']> {
  if (!parent) return undefined
  const { runs } = installation.store
  const { runId, node, visit, index } = parent
  const above = await runs.get(runId)
  if (!above) return undefined
  const graph = await installation.graphOf(above.version)
  return {
    run: runId,
    workflow: above.workflowName,
    node,
    label: labelOf(graph, node),
    visit,
    index,
    siblings: await runs.count({ parent: runId, parentStep: { node, visit } }),
  }
}

const ledgerQuery = z.object({
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(2000).default(1000),
})

/** `GET /api/v1/runs/{run}/ledger` */
export const getLedger = route({ auth: 'either', scope: 'runs:read', role: 'viewer' }, async (call) => {
  const { installation, params, url } = call
  const runId = runIdFrom(params.run)
  const { after, limit } = queryOf(url, ledgerQuery)
  return json(await ledgerPage(installation, runId, after, limit))
})

/** Tokens of a run behind the one with sequence number `after`. Throws Problem `not_found`. */
export async function ledgerPage(
  installation: Installation,
  runId: RunId,
  after: number,
  limit: number,
): Promise<LedgerPage> {
  const { ledger } = installation.store
  if (!(await ledger.header(runId))) throw new Problem('not_found', `No run is known as "${runId}"`)
  const rows = await ledger.rows(runId, after, limit)
  return {
    rows: rows.map(({ seq, position, token, prevHash, hash }) => ({ seq, position, token, prevHash, hash })),
    heads: (await ledger.heads(runId)).map(({ seq, jws }) => ({ seq, jws })),
    next: rows.length === limit ? rows.at(-1)?.seq : undefined,
  }
}

/** JSON longer than this, and bytes, come cut; a screen shows the beginning. */
const shownBytes = 256 * 1024

const valueQuery = z.object({ as: z.enum(['bytes']).optional() })

/** `GET /api/v1/runs/{run}/values/{hash}`; `?as=bytes` answers with all of its bytes, as a file that no browser opens. */
export const getValue = route({ auth: 'either', scope: 'runs:read', role: 'viewer' }, async (call) => {
  const { installation, params, url } = call
  const runId = runIdFrom(params.run)
  const hash = params.hash ?? ''
  const { as } = queryOf(url, valueQuery)
  // Values are shared between runs by their hash; the run must speak of it for its readers to see it.
  const value = (await speaksOf(installation, runId, hash))
    ? await installation.store.ledger.value(hash)
    : undefined
  if (!value) throw new Problem('not_found', `This run has no value ${hash.slice(0, 50)}`)
  if (as === 'bytes') return fileOf(hash, value.bytes)
  const size = value.bytes.byteLength
  const whole = size <= shownBytes
  const read = whole && value.mediaType === 'application/json' ? jsonOf(value.bytes) : undefined
  const view: ValueView = {
    hash,
    mediaType: value.mediaType,
    size,
    json: read,
    base64:
      read === undefined ? Buffer.from(value.bytes.subarray(0, shownBytes)).toString('base64') : undefined,
    truncated: !whole,
  }
  return json(view)
})

/** Deeper than this it is handed out as its own text: what writes JSON gives up where what reads it does not. */
const maxNesting = 500

/** Nothing where it says that it is JSON and is not: then it is handed out as the bytes it is. */
function jsonOf(bytes: Uint8Array): Json | undefined {
  const text = Buffer.from(bytes).toString('utf8')
  if (nestingOf(text) > maxNesting) return undefined
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** How deep it is nested at most; brackets within its texts count as well. */
function nestingOf(text: string): number {
  let depth = 0
  let most = 0
  for (const char of text) {
    if (char === '[' || char === '{') most = Math.max(most, ++depth)
    else if (char === ']' || char === '}') depth--
  }
  return most
}

/** Whatever it holds, it is not HTML or a script to anybody who opens this address. */
function fileOf(hash: string, bytes: Uint8Array): Response {
  return new Response(new Uint8Array(bytes), {
    headers: {
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="value-${hash.slice(0, 12)}.bin"`,
    },
  })
}

const reasonBody = z.strictObject({ reason: z.string().max(500).optional() })

/** `POST /api/v1/runs/{run}/pause`, `…/resume`, `…/cancel` */
function operation(make: (by: string, reason: string) => Command) {
  return route(
    { auth: 'either', scope: 'runs:write', role: 'operator', body: reasonBody, idempotent: true },
    async ({ installation, params, principal, body }) => {
      const runId = runIdFrom(params.run)
      await installation.book.execute(runId, make(actorOf(principal), body.reason ?? ''))
      const record = await installation.store.runs.get(runId)
      return json(record ? runRowOf(record) : { id: runId })
    },
  )
}

export const pauseRun = operation((by, reason) => ({ type: 'pause', by, reason }))
export const resumeRun = operation((by) => ({ type: 'resume', by }))
export const cancelRun = operation((by, reason) => ({ type: 'cancel', by, reason }))
