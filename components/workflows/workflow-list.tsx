'use client'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { PageHead } from '@/components/shell/page-head'
import { Button } from '@/components/ui/button'
import { CopyId } from '@/components/ui/copy-id'
import { EmptyState } from '@/components/ui/empty-state'
import { ErrorNote } from '@/components/ui/error-note'
import { PageHelp } from '@/components/ui/page-help'
import { RelativeTime } from '@/components/ui/relative-time'
import { Skeleton } from '@/components/ui/skeleton'
import { ActTh, Table, TableScroll, Td, Th } from '@/components/ui/table'
import { links } from '@/lib/ui/links'
import { useOpened } from '@/lib/ui/opened'
import { useWorkflows } from '@/lib/ui/queries'
import { useShortcuts } from '@/lib/ui/shortcuts'
import { plainActor } from '@/lib/view/plain-words'
import type { WorkflowRow } from '@/lib/view/workflow-wire'
import { useMayNotImport } from './author-role'

/** The library: the newest version of each workflow. */
export function WorkflowList() {
  const router = useRouter()
  const query = useWorkflows()
  const mayNot = useMayNotImport()
  const opened = useOpened()
  useShortcuts({ n: mayNot ? undefined : () => router.push(links.workflowImport) })
  const importButton = mayNot ? (
    <Button size="sm" disabled title={mayNot} aria-description={mayNot}>
      Import a workflow
    </Button>
  ) : (
    <Button size="sm" asChild>
      <Link href={links.workflowImport}>Import a workflow</Link>
    </Button>
  )
  const planButton = (
    <Button size="sm" asChild>
      <Link href={links.workflowPlan()}>Plan from a goal</Link>
    </Button>
  )
  return (
    <>
      <PageHead title="Workflows">
        {query.data && <span className="num text-ink-3">{query.data.items.length.toLocaleString('en')}</span>}
        <span className="flex-1" />
        {mayNot && !opened && (
          <span className="text-ink-3 max-lg:hidden">Importing takes the role author.</span>
        )}
        {!mayNot && <span className="max-md:hidden">{planButton}</span>}
        {!opened && importButton}
        <span className="max-md:hidden">
          <PageHelp page="Workflows" keys={[['n', 'import a workflow']]}>
            What can be run. A version is named by the hash of what it says and never changes; a run is pinned
            to one.
          </PageHelp>
        </span>
      </PageHead>
      {!mayNot && <div className="border-b px-4 py-2 md:hidden">{planButton}</div>}
      {query.isError && !query.data ? (
        <ErrorNote
          title="The workflows could not be read"
          error={query.error}
          means="Runs go on without this page."
          onRetry={() => void query.refetch()}
        />
      ) : !query.data ? (
        <Skeleton what="workflows" lines={5} />
      ) : query.data.items.length === 0 && opened ? (
        <EmptyState title="No workflow that somebody wrote">
          Its runs are of graphs that Holdpoint made itself, such as an agent’s loop. Each run shows its own.
        </EmptyState>
      ) : query.data.items.length === 0 ? (
        <EmptyState
          title="No workflow yet"
          action={
            mayNot ? undefined : (
              <Button asChild>
                <Link href={links.workflowImport}>Import a workflow</Link>
              </Button>
            )
          }
        >
          {mayNot ??
            'Bring an ATD descriptor, an agentd workflow or a PromptPack as a file, or paste its text; it is checked as you type.'}
        </EmptyState>
      ) : (
        <List rows={query.data.items} />
      )}
    </>
  )
}

function List({ rows }: { rows: WorkflowRow[] }) {
  const opened = useOpened()
  return (
    <TableScroll className="flex-1">
      <Table>
        <thead>
          <tr>
            <Th>Name</Th>
            <Th className="max-md:hidden">Description</Th>
            <Th numeric>Steps</Th>
            <Th className="max-md:hidden">Format</Th>
            <Th className="max-md:hidden">Newest version</Th>
            <Th numeric className="max-md:hidden">
              Versions
            </Th>
            <Th className="max-md:hidden">Imported</Th>
            {!opened && <ActTh />}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.version} className="hover:bg-hover">
              <Td className="max-w-72">
                <Link
                  href={links.workflow(row.version)}
                  className="block truncate py-1 font-medium decoration-line-strong underline-offset-4 hover:underline"
                >
                  {row.name}
                </Link>
              </Td>
              <Td className="w-full max-w-0 truncate text-ink-2 max-md:hidden" title={row.description}>
                {row.description}
              </Td>
              <Td numeric>{row.nodeCount.toLocaleString('en')}</Td>
              <Td className="mono text-ink-2 max-md:hidden">{row.format}</Td>
              <Td className="max-md:hidden">
                <CopyId id={row.version} what="version" className="text-ink-3" />
              </Td>
              <Td numeric className="max-md:hidden">
                {row.versions.toLocaleString('en')}
              </Td>
              <Td className="text-ink-2 max-md:hidden">
                <RelativeTime at={row.importedAt} />{' '}
                <span className="text-ink-3">by {plainActor(row.importedBy)}</span>
              </Td>
              {!opened && (
                <Td className="text-right">
                  <Link
                    href={links.workflowRun(row.version)}
                    aria-label={`Run ${row.name}…`}
                    className="rounded-r1 px-2 py-1 decoration-line-strong underline-offset-4 hover:underline max-md:py-3"
                  >
                    Run…
                  </Link>
                </Td>
              )}
            </tr>
          ))}
        </tbody>
      </Table>
    </TableScroll>
  )
}
