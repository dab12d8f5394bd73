'use client'
/*
 * Bulkheads: who has how much of what workflows share. One block for each agent and one for this machine, the ones in use
 * first as long as the page is open; nothing jumps while it is read.
 */
import Link from 'next/link'
import { useState } from 'react'
import { ContainmentTabs } from '@/components/breakers/containment-tabs'
import { PageHead } from '@/components/shell/page-head'
import { Button } from '@/components/ui/button'
import { EmptyState } from '@/components/ui/empty-state'
import { ErrorNote } from '@/components/ui/error-note'
import { PageHelp } from '@/components/ui/page-help'
import { Skeleton } from '@/components/ui/skeleton'
import { satisfies } from '@/lib/hitl/roles'
import { count } from '@/lib/ui/format-time'
import { links } from '@/lib/ui/links'
import { usePools } from '@/lib/ui/pool-queries'
import { useMe } from '@/lib/ui/queries'
import { useShortcuts } from '@/lib/ui/shortcuts'
import type { PoolList, PoolRow } from '@/lib/view/pool-wire'
import { PoolBlock } from './pool-block'
import { AgentPoolDialog, HerePoolDialog } from './pool-dialogs'

const keyWords: [string, string][] = [
  ['j k', 'next and previous pool'],
  ['e', 'change its bounds'],
]

export function Bulkheads() {
  const query = usePools()
  const { data } = query
  return (
    <>
      <PageHead title="Bulkheads" tabs={<ContainmentTabs at="bulkheads" />}>
        <span className="flex-1" />
        {data && <Waiting data={data} />}
        <PageHelp page="Bulkheads" keys={keyWords}>
          Workflows share agents, and this machine. A place is one step at work there. Each workflow has so
          many places and a queue of its own, so that one that floods an agent leaves room for the others.
          Critical steps go first, and may take the place of a step that has changed nothing yet; a step that
          has waited {data ? data.starveAfterS : 300} s is as urgent as any.
        </PageHelp>
      </PageHead>
      {query.isError && !data ? (
        <ErrorNote
          title="The pools could not be read"
          error={query.error}
          means="Runs go on sharing them as before."
          onRetry={() => void query.refetch()}
        />
      ) : data ? (
        <Loaded data={data} />
      ) : (
        <Skeleton what="pools" lines={8} row={44} />
      )}
    </>
  )
}

function Waiting({ data }: { data: PoolList }) {
  const all = data.items.flatMap(({ workflows }) => workflows)
  const queued = all.reduce((sum, one) => sum + one.queued, 0)
  const running = all.reduce((sum, one) => sum + one.running, 0)
  return (
    <span className="tabular-nums text-ink-3 max-md:hidden">
      {running.toLocaleString('en-US')} at work,{' '}
      {queued === 0 ? 'nobody waits' : `${count(queued, 'step')} waiting`}
    </span>
  )
}

function Loaded({ data }: { data: PoolList }) {
  const me = useMe().data
  const mayChange = me !== undefined && satisfies(me.roles, 'administrator')
  const [changing, setChanging] = useState<string>()
  const inUse = useSeen(data.items.filter(({ workflows }) => workflows.length > 0).map(({ name }) => name))
  const pools = [...data.items].sort(
    (one, other) => Number(inUse.has(other.name)) - Number(inUse.has(one.name)),
  )
  const step = (by: 1 | -1) => focusPool(pools, by)
  useShortcuts({
    j: () => step(1),
    k: () => step(-1),
    e: mayChange ? () => setChanging(focusedPool() ?? pools[0]?.name) : undefined,
  })
  const changed = data.items.find(({ name }) => name === changing)
  const close = () => setChanging(undefined)
  return (
    <div className="min-h-0 flex-1 overflow-auto">
      {pools.map((pool) => (
        <PoolBlock
          key={pool.name}
          pool={pool}
          now={data.at}
          onChange={mayChange && isChangeable(pool) ? () => setChanging(pool.name) : undefined}
        />
      ))}
      {data.items.length === 1 && data.items[0]?.workflows.length === 0 && (
        <EmptyState
          title="No agent is shared yet"
          action={
            <Button asChild variant="primary">
              <Link href={links.agents()}>Add an agent</Link>
            </Button>
          }
        >
          Bulkheads keep one workflow from using up an agent that others need. Register an agent, and its
          places and queues show here.
        </EmptyState>
      )}
      {changed?.name === 'here' ? (
        <HerePoolDialog pool={changed} starveAfterS={data.starveAfterS} onClose={close} />
      ) : (
        changed && <AgentPoolDialog pool={changed} onClose={close} />
      )}
    </div>
  )
}

/** An agent that was removed has nothing to set any more. */
function isChangeable({ name, label }: PoolRow): boolean {
  return name === 'here' || label !== ''
}

/** Names that were there at any time since the page was opened. */
function useSeen(names: string[]): ReadonlySet<string> {
  const [seen, setSeen] = useState<ReadonlySet<string>>(() => new Set(names))
  const fresh = names.filter((name) => !seen.has(name))
  if (fresh.length > 0) setSeen(new Set([...seen, ...fresh]))
  return seen
}

function focusedPool(): string | undefined {
  return document.activeElement?.closest<HTMLElement>('[data-pool]')?.dataset.pool
}

function focusPool(pools: PoolRow[], by: 1 | -1): void {
  const at = pools.findIndex(({ name }) => name === focusedPool())
  const next = pools[at < 0 ? 0 : Math.min(pools.length - 1, Math.max(0, at + by))]
  if (!next) return
  document.querySelector<HTMLElement>(`[data-pool="${CSS.escape(next.name)}"]`)?.focus()
}
