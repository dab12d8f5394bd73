'use client'
import Link from 'next/link'
import { Fact } from '@/components/ui/facts'
import { links } from '@/lib/ui/links'
import { useChildRuns } from '@/lib/ui/run-queries'
import type { NodeFrame } from '@/lib/view/frame'
import type { RunFold } from '@/lib/view/run-fold'
import type { ChildCounts, RunRow } from '@/lib/view/run-wire'
import { workflowsLedTo } from '@/lib/view/workflows-led-to'

/** Which workflows a step runs, each a link to the version that was run once there is a run of it. */
export function LeadsTo({
  run,
  fold,
  frame,
  counts,
}: {
  run: string
  fold: RunFold
  frame: NodeFrame
  /** The runs this visit began. */
  counts: ChildCounts | undefined
}) {
  if (!counts) return <Workflows fold={fold} frame={frame} rows={[]} />
  if (counts.only) return <Workflows fold={fold} frame={frame} rows={[counts.only]} />
  return <OfSeveral run={run} fold={fold} frame={frame} counts={counts} />
}

function OfSeveral({
  run,
  fold,
  frame,
  counts,
}: {
  run: string
  fold: RunFold
  frame: NodeFrame
  counts: ChildCounts
}) {
  const { data } = useChildRuns(run, counts.node, counts.visit, '')
  return <Workflows fold={fold} frame={frame} rows={data?.pages.flatMap((page) => page.items) ?? []} />
}

function Workflows({ fold, frame, rows }: { fold: RunFold; frame: NodeFrame; rows: RunRow[] }) {
  const node = fold.index.nodes.get(frame.id)
  const found = node ? workflowsLedTo(node, rows) : []
  if (found.length === 0) return null
  return (
    <Fact label={found.length > 1 ? 'Workflows' : 'Workflow'}>
      <ul>
        {found.map(({ name, version }) => (
          <li key={name} className="[overflow-wrap:anywhere]">
            {version === undefined ? (
              name
            ) : (
              <Link
                href={links.workflow(version)}
                className="underline decoration-line-strong underline-offset-4"
              >
                {name}
              </Link>
            )}
          </li>
        ))}
      </ul>
    </Fact>
  )
}
