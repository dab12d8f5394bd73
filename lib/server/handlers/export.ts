/** A run with all its evidence, as a file that anyone can verify; and what is in it, before it is downloaded. */
import { z } from 'zod'
import { Problem } from '@/lib/base/problem'
import type { ExportContents } from '@/lib/view/bundle-wire'
import { registeredKeys } from '../bundle/agents'
import { bundleMaxBytes, bundleMediaType, type LeftOut } from '../bundle/bundle'
import { decisionsOf } from '../bundle/claims'
import { gather } from '../bundle/gather'
import { type PlannedBundle, planBundle } from '../bundle/write-bundle'
import { route } from '../current'
import { queryOf } from '../http/paging'
import { json } from '../http/route'
import type { Installation } from '../installation'
import { runIdFrom } from '../run-id'

const exportQuery = z.object({
  /** The ledgers of the runs it was forked from too. */
  forks: z.enum(['true', 'false']).optional(),
  /** Values of more bytes are left out and listed. */
  max_value_bytes: z.coerce.number().int().min(0).max(bundleMaxBytes).optional(),
})

/** `GET /api/v1/runs/{run}/export?forks=&max_value_bytes=`: the signed bundle, streamed. The same state gives the same bytes. */
export const getExport = route({ auth: 'either', scope: 'export:read', role: 'viewer' }, async (call) => {
  const { planned } = await plannedFor(call)
  return new Response(bodyOf(planned), {
    headers: {
      'content-type': bundleMediaType,
      'content-length': String(planned.size),
      'content-disposition': `attachment; filename="${planned.manifest.run}.holdpoint.tar"`,
    },
  })
})

/** `GET /api/v1/runs/{run}/export/contents`, with the same query. */
export const getExportContents = route(
  { auth: 'either', scope: 'export:read', role: 'viewer' },
  async (call) => {
    const { planned, decisions } = await plannedFor(call)
    return json(contentsOf(planned, decisions))
  },
)

async function plannedFor({
  installation,
  params,
  url,
}: {
  installation: Installation
  params: Record<string, string>
  url: URL
}) {
  const { store, keys, opened } = installation
  // What it would write would be signed by a key that is nobody's.
  if (opened) {
    throw new Problem(
      'opened_read_only',
      `This console shows the bundle ${opened.file}; that file is the evidence, so hand it on as it is.`,
    )
  }
  const { forks, max_value_bytes: valueMaxBytes } = queryOf(url, exportQuery)
  const gathered = await gather(
    runIdFrom(params.run),
    { store, keys: keys.jwks(), agentKeys: registeredKeys(installation.agents) },
    { withForks: forks === 'true', ...(valueMaxBytes !== undefined && { valueMaxBytes }) },
  )
  const planned = await planBundle(gathered, store.ledger, keys.current)
  return { planned, decisions: decisionsOf(gathered.evidence).length }
}

function contentsOf({ manifest, size }: PlannedBundle, decisions: number): ExportContents {
  const { run, at, tokens, runs, workflows, leftOut, forkedFrom, entries } = manifest
  const values = entries.filter(({ mediaType }) => mediaType !== undefined)
  const of = (why: LeftOut['why']) => leftOut.filter((one) => one.why === why)
  const bytes = (list: readonly { size?: number }[]) => list.reduce((sum, one) => sum + (one.size ?? 0), 0)
  const tooLarge = of('too_large')
  return {
    ...{ run, at, size, tokens, runs: runs.length, workflows: workflows.length, decisions },
    values: { count: values.length, bytes: bytes(values) },
    leftOut: {
      sealed: of('sealed').length,
      tooLarge: { count: tooLarge.length, bytes: bytes(tooLarge) },
      notStored: of('not_stored').length,
    },
    ...(forkedFrom && {
      forkedFrom: {
        run: forkedFrom.run,
        included: forkedFrom.included,
        ...(forkedFrom.seq !== undefined && { seq: forkedFrom.seq }),
      },
    }),
  }
}

/** Pieces are read when they are asked for: a slow download holds one piece, not the file. */
function bodyOf(planned: PlannedBundle): ReadableStream<Uint8Array> {
  const pieces = planned.stream()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await pieces.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await pieces.return(undefined)
      },
    },
    { highWaterMark: 1 },
  )
}
