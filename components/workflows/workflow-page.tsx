'use client'
import { Download } from 'lucide-react'
import Link from 'next/link'
import { useRouter, useSearchParams } from 'next/navigation'
import { useMemo } from 'react'
import { NotHere } from '@/components/shell/not-here'
import { Actor } from '@/components/ui/actor'
import { Button } from '@/components/ui/button'
import { CopyId } from '@/components/ui/copy-id'
import { PageHelp } from '@/components/ui/page-help'
import { RelativeTime } from '@/components/ui/relative-time'
import { Segmented } from '@/components/ui/segmented'
import { Table, TableScroll, Td, Th } from '@/components/ui/table'
import { Tag } from '@/components/ui/tag'
import { links } from '@/lib/ui/links'
import { useOpened } from '@/lib/ui/opened'
import { useShortcuts } from '@/lib/ui/shortcuts'
import { workflowExportUrl } from '@/lib/ui/workflow-queries'
import type { WorkflowDetail } from '@/lib/view/workflow-wire'
import { ReadWorkflow } from './read-workflow'
import { SourceEditor } from './source-editor'
import { StepFacts } from './step-facts'
import { ToWorkflows } from './to-workflows'
import { WorkflowGraphView } from './workflow-graph'

const tabs = [
  { value: 'graph', word: 'Graph' },
  { value: 'source', word: 'Source' },
  { value: 'versions', word: 'Versions' },
] as const

type Tab = (typeof tabs)[number]['value']

/** One version of a workflow: drawn, as text, and among its versions. */
export function WorkflowPage({ version }: { version: string }) {
  return <ReadWorkflow version={version}>{(workflow) => <Loaded workflow={workflow} />}</ReadWorkflow>
}

function Loaded({ workflow }: { workflow: WorkflowDetail }) {
  const router = useRouter()
  const search = useSearchParams()
  const tab: Tab = tabs.find(({ value }) => value === search.get('tab'))?.value ?? 'graph'
  const asked = search.get('node') ?? undefined
  const node = workflow.graph.nodes.some(({ id }) => id === asked) ? asked : undefined
  const opened = useOpened()
  const newest = workflow.history.reduce(
    (best, one) => (one.importedAt > best.importedAt ? one : best),
    workflow,
  )
  const isNewest = newest.version === workflow.version
  const show = (change: { tab?: Tab; node?: string | undefined }) => {
    const next = new URLSearchParams(window.location.search)
    for (const [name, value] of Object.entries(change)) {
      if (value === undefined) next.delete(name)
      else next.set(name, value)
    }
    window.history.replaceState(null, '', next.size > 0 ? `?${next}` : window.location.pathname)
  }
  const stepOut = () => show({ node: undefined })
  useShortcuts({ Escape: stepOut })
  return (
    <>
      <div className="flex min-h-11 shrink-0 items-center gap-3 whitespace-nowrap border-b px-4 max-md:flex-wrap max-md:py-2">
        <ToWorkflows />
        <h1 className="min-w-0 truncate font-medium">{workflow.name}</h1>
        <CopyId id={workflow.version} what="version" className="text-ink-3" />
        {!isNewest && (
          <Link href={links.workflow(newest.version)}>
            <Tag>an older version, show the newest</Tag>
          </Link>
        )}
        <span className="flex-1" />
        <Segmented label="Show" value={tab} choices={[...tabs]} onChange={(next) => show({ tab: next })} />
        <Button size="sm" asChild className="max-md:hidden">
          <a href={workflowExportUrl(workflow.version)} download>
            <Download size={14} strokeWidth={1.5} aria-hidden="true" />
            Download
          </a>
        </Button>
        {!opened && (
          <Button size="sm" variant="primary" asChild>
            <Link href={links.workflowRun(workflow.version)}>Run…</Link>
          </Button>
        )}
        <span className="max-md:hidden">
          <PageHelp
            page="Workflow"
            keys={[
              ['/', 'find a step'],
              ['← →', 'along the edges'],
              ['↵', 'select the step'],
              ['esc', 'step out'],
            ]}
          >
            One version, named by the hash of what it says. It never changes; an import with another text is
            another version.
          </PageHelp>
        </span>
      </div>
      <NotHere
        of={
          asked === undefined || node !== undefined
            ? undefined
            : { what: 'step', asked, where: 'in this version', instead: 'the workflow as a whole is shown' }
        }
      />
      {tab === 'graph' && (
        <div className="grid min-h-0 flex-1 grid-cols-[minmax(0,1fr)_var(--inspector)] grid-rows-[minmax(0,1fr)] max-md:flex max-md:flex-col">
          <div className="min-h-0 min-w-0 border-r max-md:h-52 max-md:shrink-0 max-md:border-b max-md:border-r-0">
            <WorkflowGraphView graph={workflow.graph} selected={node} onSelect={(id) => show({ node: id })} />
          </div>
          <StepFacts workflow={workflow} node={node} />
        </div>
      )}
      {tab === 'source' && (
        <div className="min-h-0 flex-1">
          <SourceEditor
            text={workflow.source}
            diagnostics={workflow.diagnostics}
            label={`Text of ${workflow.name}`}
          />
        </div>
      )}
      {tab === 'versions' && (
        <Versions workflow={workflow} onOpen={(to) => router.push(links.workflow(to))} />
      )}
    </>
  )
}

function Versions({ workflow, onOpen }: { workflow: WorkflowDetail; onOpen: (version: string) => void }) {
  const rows = useMemo(
    () => [...workflow.history].sort((a, b) => b.importedAt - a.importedAt),
    [workflow.history],
  )
  return (
    <TableScroll className="flex-1">
      <Table>
        <thead>
          <tr>
            <Th>Version</Th>
            <Th>Imported</Th>
            <Th>By</Th>
            <Th className="w-full">
              <span className="sr-only">Open</span>
            </Th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={row.version}
              className={row.version === workflow.version ? 'bg-selected' : 'hover:bg-hover'}
            >
              <Td>
                <CopyId id={row.version} what="version" />
              </Td>
              <Td>
                <RelativeTime at={row.importedAt} />
              </Td>
              <Td className="text-ink-2">
                <Actor id={row.importedBy} />
              </Td>
              <Td className="text-right">
                {row.version === workflow.version ? (
                  <span className="text-ink-3">shown</span>
                ) : (
                  <Button size="sm" variant="quiet" onClick={() => onOpen(row.version)}>
                    Open
                  </Button>
                )}
              </Td>
            </tr>
          ))}
        </tbody>
      </Table>
    </TableScroll>
  )
}
