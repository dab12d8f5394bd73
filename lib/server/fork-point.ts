/** A run folded up to one of its tokens, for a fork: read page by page, so that a long ledger never stands in memory at once. */
import type { RunId } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import { parseClaims } from '@/lib/ect/claims'
import { unverifiedPayload } from '@/lib/ect/jws'
import { factOf } from '@/lib/engine/fact-codec'
import { ForkFold, type ForkPoint } from '@/lib/engine/fork-point'
import type { RunHeader } from '@/lib/engine/ports'
import type { GraphIndex } from '@/lib/workflow/graph-index'
import type { Installation } from './installation'

const rowsPerRead = 2000

export interface Forked {
  header: RunHeader
  graph: GraphIndex
  point: ForkPoint
}

/** Throws Problem `not_found` for an unknown run, `bad_request` for a token the run does not have. */
export async function forkPointAt(installation: Installation, runId: RunId, at: number): Promise<Forked> {
  const { ledger } = installation.store
  const header = await ledger.header(runId)
  if (!header) throw new Problem('not_found', `No run is known as "${runId}"`)
  const graph = await installation.graphOf(header.version)
  if (graph.graph.reported) {
    throw new Problem(
      'fork_impossible',
      'This run is what agents outside reported of themselves; there is nothing here that could do it again',
    )
  }
  const fold = new ForkFold(graph)
  let home: string | undefined
  while (fold.run.seq < at) {
    const rows = await ledger.rows(runId, fold.run.seq, Math.min(rowsPerRead, at - fold.run.seq))
    for (const row of rows) {
      const claims = parseClaims(unverifiedPayload(row.token))
      home ??= claims.iss
      fold.add(factOf(claims, home))
    }
    if (rows.length === 0) {
      throw new Problem(
        'bad_request',
        `The run has ${fold.run.seq.toLocaleString('en')} tokens, so it cannot be forked at token ${at.toLocaleString('en')}; give one of those there are`,
      )
    }
  }
  const point = fold.point()
  if (!point) throw new Problem('bad_request', `"at" is ${at}; give a token of the run, from 1`)
  return { header, graph, point }
}
