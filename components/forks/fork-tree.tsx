'use client'
import Link from 'next/link'
import { Actor } from '@/components/ui/actor'
import { cx } from '@/components/ui/cx'
import { RelativeTime } from '@/components/ui/relative-time'
import { RunMark } from '@/components/ui/state'
import { Tag } from '@/components/ui/tag'
import { useForks } from '@/lib/ui/fork-queries'
import { links } from '@/lib/ui/links'
import { shortId } from '@/lib/ui/short-id'
import type { ForkTreeView } from '@/lib/view/fork-wire'

/** Steps to the right that a narrow column has room for; deeper forks stand below one another. */
const deepest = 6

/** The run this one was forked from, in words, for its facts; nothing for a run of its own. */
export function ForkedFrom({ run, of }: { run: string; of: string }) {
  const at = useForks(run).data?.nodes.find(({ row }) => row.id === run)?.at
  return (
    <>
      <Link
        href={at === undefined ? links.run(of) : links.moment(of, at)}
        title={of}
        className="mono underline decoration-line-strong underline-offset-4"
      >
        {shortId(of)}
      </Link>
      {at !== undefined && (
        <>
          {' '}
          at token <span className="num">{at.toLocaleString('en')}</span>
        </>
      )}
    </>
  )
}

/** The original, its forks and theirs, with this run marked; nothing while a run was never forked. */
export function ForkTree({ run }: { run: string }) {
  const tree = useForks(run).data
  if (!tree || tree.nodes.length < 2) return null
  const forks = tree.nodes.length - 1
  return (
    <section aria-labelledby="fork-tree" className="px-4 pb-4">
      <h3 id="fork-tree" className="mb-1 text-t1 text-ink-3">
        Forks{' '}
        <span className="num">
          {forks.toLocaleString('en')}
          {tree.more && ' or more'}
        </span>
      </h3>
      <ul className="border-t">
        {tree.nodes.map((node) => (
          <Node key={node.row.id} node={node} current={node.row.id === run} />
        ))}
      </ul>
    </section>
  )
}

function Node({ node, current }: { node: ForkTreeView['nodes'][number]; current: boolean }) {
  const { row, depth, at, dryRun, reason } = node
  return (
    <li
      aria-current={current ? 'true' : undefined}
      className={cx('border-b', current && 'bg-selected')}
      style={{ paddingLeft: Math.min(depth, deepest) * 16 }}
    >
      <Link
        href={links.run(row.id)}
        title={row.id}
        className={cx(
          'ring-inside flex min-h-8 flex-wrap items-center gap-x-2 py-1 pr-1 hover:bg-hover max-md:min-h-12',
          depth > 0 && 'border-l border-line-strong pl-2',
          depth === 0 && 'pl-1',
        )}
      >
        <RunMark run={row} />
        <span className={cx('mono', current ? 'font-medium' : 'text-ink-2')}>{shortId(row.id)}</span>
        {current && <span className="text-t1">this run</span>}
        {dryRun && <Tag>dry run</Tag>}
        <span className="text-t1 text-ink-3">
          {at === undefined ? 'the original' : `forked at token ${at.toLocaleString('en')}`},{' '}
          <RelativeTime at={row.startedAt} /> by <Actor id={row.startedBy} />
        </span>
        {reason && <span className="w-full truncate text-t1 text-ink-2">{reason}</span>}
      </Link>
    </li>
  )
}
