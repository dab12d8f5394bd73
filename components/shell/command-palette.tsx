'use client'
import { Command } from 'cmdk'
import { Search } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { Dialog } from 'radix-ui'
import { type KeyboardEvent, type ReactNode, useDeferredValue, useEffect, useRef, useState } from 'react'
import { WorkflowsIcon } from '@/components/ui/icons'
import { Kbd } from '@/components/ui/kbd'
import { runLook, StateShape } from '@/components/ui/state'
import { links } from '@/lib/ui/links'
import { useOpened } from '@/lib/ui/opened'
import { useApprovals, useRuns, useWorkflows } from '@/lib/ui/queries'
import { shortId } from '@/lib/ui/short-id'
import { useShortcuts } from '@/lib/ui/shortcuts'
import { chooseTheme } from '@/lib/ui/theme'
import type { ApprovalRow } from '@/lib/view/approval-wire'
import type { RunRow } from '@/lib/view/run-wire'
import type { WorkflowRow } from '@/lib/view/workflow-wire'
import { roomsOf } from './rooms'

/** The search of the top line: finds a run, a workflow, a question, a command. ⌘K or Ctrl+K from anywhere. */
export function CommandPalette() {
  const [open, setOpen] = useState(false)
  useShortcuts({ 'mod+k': () => setOpen((now) => !now) })
  return (
    <Dialog.Root open={open} onOpenChange={setOpen}>
      <Dialog.Trigger asChild>
        <button
          type="button"
          className="flex h-7 items-center gap-2 rounded-r2 border bg-surface pl-2 pr-1 text-ink-3 hover:border-line-strong max-md:ml-auto max-md:h-12 max-md:w-12 max-md:justify-center max-md:border-0 max-md:bg-transparent md:w-90 md:min-w-0"
        >
          <Search size={14} strokeWidth={1.5} className="shrink-0 max-md:size-4" aria-hidden="true" />
          <span className="min-w-0 flex-1 truncate text-left max-md:sr-only">
            Find a run, a workflow, a command
          </span>
          <span className="max-md:hidden">
            <Kbd>⌘K</Kbd>
          </span>
        </button>
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Overlay className="motion-fade fixed inset-0 z-40 bg-[color-mix(in_srgb,var(--canvas)_55%,#0009)]" />
        <Dialog.Content
          aria-describedby={undefined}
          className="motion-appear fixed left-1/2 top-[10vh] z-50 w-[calc(100%-32px)] max-w-[600px] -translate-x-1/2 overflow-hidden rounded-r2 border border-line-strong bg-surface outline-none max-md:top-2"
        >
          <Dialog.Title className="sr-only">Find a run, a workflow, a command</Dialog.Title>
          <Palette onDone={() => setOpen(false)} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function Palette({ onDone }: { onDone: () => void }) {
  const [text, setText] = useState('')
  const found = useFound(text)
  const opened = useOpened() !== undefined
  const { list, ...marked } = useFirstMarked(text, found)
  const router = useRouter()
  const go = (href: string) => () => {
    onDone()
    router.push(href)
  }
  return (
    <Command label="Find" loop {...marked}>
      <div className="flex items-center gap-2 border-b px-3">
        <Search size={16} strokeWidth={1.5} className="text-ink-3" aria-hidden="true" />
        <Command.Input
          value={text}
          onValueChange={setText}
          placeholder="Find a run, a workflow, a command"
          className="h-11 flex-1 bg-transparent outline-none max-md:text-[16px]"
        />
        <span className="max-md:hidden">
          <Kbd>esc</Kbd>
        </span>
      </div>
      <Command.List ref={list} className="max-h-[min(420px,60vh)] overflow-auto p-1">
        <Command.Empty className="px-3 py-6 text-center text-ink-3">
          Nothing is called that. Try part of a name or of a run id.
        </Command.Empty>
        <Found found={found} go={go} />
        <Group heading="Go to">
          {roomsOf(opened).map((room) => (
            <Item key={room.href} value={`go to ${room.word}`} onSelect={go(room.href)} icon={room.icon}>
              {room.word}
            </Item>
          ))}
        </Group>
        <Group heading="Commands">
          {(['light', 'dark', 'system'] as const).map((theme) => (
            <Item
              key={theme}
              value={`theme ${theme}`}
              onSelect={() => {
                chooseTheme(theme)
                onDone()
              }}
            >
              {theme === 'system' ? 'Use the system’s theme' : `Use the ${theme} theme`}
            </Item>
          ))}
        </Group>
      </Command.List>
    </Command>
  )
}

/** Most found runs shown; who needs more filters the table. */
const runsShown = 8

interface Found {
  wanted: string
  runs: RunRow[]
  workflows: WorkflowRow[]
  open: ApprovalRow[]
}

function useFound(text: string): Found {
  const wanted = useDeferredValue(text.trim())
  return {
    wanted,
    runs: useRuns(wanted ? { text: wanted } : {}).data?.pages[0]?.items ?? [],
    workflows: useWorkflows().data?.items ?? [],
    open: useApprovals('open').data?.pages.flatMap((page) => page.items) ?? [],
  }
}

/**
 * What Enter takes: the first of what is shown, also when it arrives after the letters did, until a person moves to
 * another. Gives the props of the `Command` and the ref of its list.
 */
function useFirstMarked(text: string, found: Found) {
  const [value, setValue] = useState('')
  const list = useRef<HTMLDivElement>(null)
  const moved = useRef(false)
  const shown = [found.wanted, ...found.runs, ...found.workflows, ...found.open]
    .map((one) => (typeof one === 'string' ? one : 'id' in one ? one.id : one.version))
    .join(' ')
  // biome-ignore lint/correctness/useExhaustiveDependencies: other letters are a new search
  useEffect(() => {
    moved.current = false
  }, [text])
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is shown now has another first
  useEffect(() => {
    if (moved.current) return
    // The list is put in order after it is drawn.
    const frame = requestAnimationFrame(() => {
      setValue(list.current?.querySelector('[cmdk-item]')?.getAttribute('data-value') ?? '')
    })
    return () => cancelAnimationFrame(frame)
  }, [text, shown])
  return {
    list,
    value,
    onValueChange: setValue,
    onKeyDown: (event: KeyboardEvent) => {
      if (/^(Arrow|Home$|End$)/.test(event.key)) moved.current = true
    },
    onPointerMove: () => {
      moved.current = true
    },
  }
}

function Found({ found, go }: { found: Found; go: (href: string) => () => void }) {
  const { wanted, runs, workflows, open } = found
  return (
    <>
      {wanted && open.length > 0 && (
        <Group heading="Waiting">
          {open.map((row) => (
            <Item
              key={row.id}
              value={`${row.sentence} ${row.id}`}
              onSelect={go(links.approvals({ item: row.id }))}
              icon={<StateShape state="waiting" />}
            >
              <span className="min-w-0 flex-1 truncate">{row.sentence}</span>
              <span className="mono text-ink-3">{shortId(row.run)}</span>
            </Item>
          ))}
        </Group>
      )}
      {runs.length > 0 && (
        <Group heading="Runs">
          {runs.slice(0, runsShown).map((run) => (
            <Item
              key={run.id}
              value={`${run.workflow} ${run.id} ${wanted}`}
              onSelect={go(links.run(run.id))}
              icon={<StateShape state={runLook(run).as} />}
            >
              <span className="min-w-0 flex-1 truncate">{run.workflow}</span>
              <span className="text-ink-3">{runLook(run).word}</span>
              <span className="mono text-ink-3">{shortId(run.id)}</span>
            </Item>
          ))}
        </Group>
      )}
      {workflows.length > 0 && (
        <Group heading="Workflows">
          {workflows.map((workflow) => (
            <Item
              key={workflow.version}
              value={`workflow ${workflow.name}`}
              onSelect={go(`${links.workflows}/${encodeURIComponent(workflow.version)}`)}
              icon={<WorkflowsIcon />}
            >
              {workflow.name}
            </Item>
          ))}
        </Group>
      )}
    </>
  )
}

function Group({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:text-t1 [&_[cmdk-group-heading]]:text-ink-3"
    >
      {children}
    </Command.Group>
  )
}

function Item({
  value,
  onSelect,
  icon,
  children,
}: {
  value: string
  onSelect: () => void
  icon?: ReactNode
  children: ReactNode
}) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="flex h-8 cursor-default items-center gap-2 rounded-r1 px-2 data-[selected=true]:bg-selected max-md:h-12"
    >
      <span className="flex w-4 shrink-0 text-ink-3">{icon}</span>
      {children}
    </Command.Item>
  )
}
