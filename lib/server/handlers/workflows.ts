import { z } from 'zod'
import { actorOf } from '@/lib/auth/principal'
import { Problem } from '@/lib/base/problem'
import { exportWorkflow, nameHint } from '@/lib/formats/format'
import type { WorkflowSummary } from '@/lib/store/store'
import type { Page } from '@/lib/view/wire'
import type { Validation, WorkflowDetail, WorkflowRow } from '@/lib/view/workflow-wire'
import type { ToolBinding } from '@/lib/workflow/graph'
import { route } from '../current'
import { queryOf } from '../http/paging'
import { json } from '../http/route'
import type { Installation } from '../installation'
import { refusePlanText } from '../plans'
import { policyFaults } from '../policy-faults'
import { bindTool } from '../tool-bindings'
import { importWorkflow, readWorkflowHere } from '../workflows'

/** What a workflow text may be sent as. */
const textTypes = ['application/atd-workflow+json', 'application/json', 'text/plain'] as const
/** The format's own bound and a little, so that a text just above it gets the format's sentence. */
const maxTextBytes = 9 * 1024 * 1024

/** `GET /api/v1/workflows` */
export const listWorkflows = route(
  { auth: 'either', scope: 'runs:read', role: 'viewer' },
  async ({ installation }) => json(await workflowPage(installation)),
)

/** Every workflow by its newest version. */
export async function workflowPage(installation: Installation): Promise<Page<WorkflowRow>> {
  return { items: (await installation.store.workflows.summaries()).map(rowOf) }
}

function rowOf(summary: WorkflowSummary): WorkflowRow {
  const { version, name, description, format, nodeCount, importedAt, importedBy, versions } = summary
  return { version, name, description, format, nodeCount, importedAt, importedBy, versions }
}

/** `POST /api/v1/workflows`: the text itself is the body. */
export const postWorkflow = route(
  {
    auth: 'either',
    scope: 'workflows:write',
    role: 'author',
    accepts: textTypes,
    maxBodyBytes: maxTextBytes,
    idempotent: true,
  },
  async ({ installation, bytes, url, principal }) => {
    const filename = url.searchParams.get('filename')?.slice(0, 200)
    const text = textOf(bytes)
    refusePlanText(text)
    const imported = await importWorkflow(installation, text, { filename, by: actorOf(principal) })
    const detail = await workflowDetailOf(installation, imported.record.version)
    return json({ ...detail, diagnostics: imported.diagnostics }, { status: imported.isNew ? 201 : 200 })
  },
)

const bindingBody = z.strictObject({
  tool: z.string().min(1).max(200),
  /** What runs it; null: nothing. */
  binding: z
    .strictObject({
      kind: z.string().min(1).max(100),
      config: z.record(z.string(), z.json()),
      artifacts: z.record(z.string(), z.string().max(1_000)).default({}),
    })
    .nullable(),
  /** The newest version that was seen; with it, nothing is stored over a newer one. */
  newest: z.string().max(100).optional(),
})

/** `POST /api/v1/workflows/{version}/bindings`: binds a tool of a pack; the text with that binding is a new version. */
export const postBinding = route(
  {
    auth: 'either',
    scope: 'workflows:write',
    role: 'author',
    body: bindingBody,
    idempotent: true,
  },
  async ({ installation, params, principal, body }) => {
    const { tool, binding, newest } = body
    const by = actorOf(principal)
    const imported = await bindTool(installation, params.version ?? '', {
      tool,
      binding: (binding as ToolBinding | null) ?? undefined,
      by,
      ...(newest !== undefined && { newest }),
    })
    const detail = await workflowDetailOf(installation, imported.record.version)
    return json({ ...detail, diagnostics: imported.diagnostics }, { status: imported.isNew ? 201 : 200 })
  },
)

/** `POST /api/v1/workflows/validate`: every diagnostic at once; nothing is stored. */
export const validateWorkflow = route(
  { auth: 'either', scope: 'runs:read', role: 'viewer', accepts: textTypes, maxBodyBytes: maxTextBytes },
  async ({ installation, bytes, url }) => {
    const filename = url.searchParams.get('filename') ?? undefined
    const text = textOf(bytes)
    const { graph, diagnostics } = await readWorkflowHere(installation, text, filename)
    const ofPolicy = graph ? await policyFaults(installation, graph, text) : []
    return json({ diagnostics: [...diagnostics, ...ofPolicy], graph } satisfies Validation)
  },
)

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Problem('bad_request', 'The text is not UTF-8; save it as UTF-8 and send it again')
  }
}

/** `GET /api/v1/workflows/{version}` */
export const getWorkflow = route(
  { auth: 'either', scope: 'runs:read', role: 'viewer' },
  async ({ installation, params }) => json(await workflowDetailOf(installation, params.version ?? '')),
)

/** What the pages of a version need. Throws Problem `not_found`. */
export async function workflowDetailOf(installation: Installation, version: string): Promise<WorkflowDetail> {
  const { workflows } = installation.store
  const record = await workflows.get(version)
  if (!record) throw new Problem('not_found', `No workflow version is stored as "${version.slice(0, 60)}"`)
  const { graph, diagnostics } = await readWorkflowHere(
    installation,
    record.source,
    nameHint(record.mediaType),
  )
  if (!graph) throw new Problem('workflow_invalid', 'This version cannot be read any more', { diagnostics })
  const versions = await workflows.versions(record.name)
  const history = versions.map(({ version, importedAt, importedBy }) => ({ version, importedAt, importedBy }))
  return {
    ...rowOf({ ...record, versions: versions.length }),
    graph,
    source: record.source,
    mediaType: record.mediaType,
    history,
    diagnostics,
  }
}

const exportQuery = z.object({ as: z.enum(['written', 'source']).default('source') })

/** `GET /api/v1/workflows/{version}/export`: the text as imported, or as Holdpoint writes it (`?as=written`). */
export const exportWorkflowText = route(
  { auth: 'either', scope: 'runs:read', role: 'viewer' },
  async ({ installation, params, url }) => {
    const { as } = queryOf(url, exportQuery)
    const record = await installation.store.workflows.get(params.version ?? '')
    if (!record)
      throw new Problem(
        'not_found',
        `No workflow version is stored as "${(params.version ?? '').slice(0, 60)}"`,
      )
    const { graph } = await installation.graphOf(record.version)
    const written = exportWorkflow(graph, record.mediaType)
    return new Response(as === 'source' ? record.source : written.text, {
      headers: {
        'content-type': record.mediaType,
        'content-disposition': `attachment; filename="${written.filename.replace(/[^\w.-]/g, '_')}"`,
      },
    })
  },
)
