'use client'
import { Command } from 'cmdk'
import { useMemo, useState } from 'react'
import { Kbd } from '@/components/ui/kbd'
import { Popover } from '@/components/ui/popover'
import { StateMark } from '@/components/ui/state'
import { useShortcuts } from '@/lib/ui/shortcuts'
import type { NodeFrame } from '@/lib/view/frame'

/** As many as fit the list without scrolling far; typing narrows better than scrolling. */
const shownMatches = 50

/** `/`: finds a step by its label, id, agent or state, and goes there. */
export function FindStep({
  frames,
  onFind,
  brief = false,
}: {
  frames: ReadonlyMap<string, NodeFrame>
  onFind: (node: string) => void
  /** The key alone, where a legend needs the room. */
  brief?: boolean
}) {
  const [open, setOpen] = useState(false)
  const [text, setText] = useState('')
  useShortcuts({ '/': () => setOpen(true) })
  const matches = useMemo(() => (open ? matching(frames, text) : []), [open, frames, text])
  return (
    <Popover
      label="Find a step"
      align="start"
      open={open}
      onOpenChange={(now) => {
        setOpen(now)
        if (now) setText('')
      }}
      trigger={
        <button
          type="button"
          aria-keyshortcuts="/"
          className="rg-find flex h-7 shrink-0 items-center gap-2 rounded-r1 hover:text-ink"
        >
          <Kbd>/</Kbd> <span className={brief ? 'sr-only' : ''}>find a step</span>
        </button>
      }
    >
      <Command label="Find a step" shouldFilter={false} loop>
        <Command.Input
          value={text}
          onValueChange={setText}
          placeholder="Label, id, agent or state"
          className="h-8 w-full rounded-r2 border border-line-strong bg-surface px-2.5"
        />
        <Command.List className="mt-2 max-h-80 overflow-auto" label="Steps">
          <Command.Empty className="px-2 py-3 text-ink-3">No step has “{text}” in it.</Command.Empty>
          {matches.map((frame) => (
            <Command.Item
              key={frame.id}
              value={frame.id}
              onSelect={() => {
                setOpen(false)
                onFind(frame.id)
              }}
              className="flex h-8 items-center gap-3 rounded-r1 px-2 data-[selected=true]:bg-selected"
            >
              <span className="min-w-0 flex-1 truncate">{frame.label}</span>
              <StateMark state={frame.shown} className="text-t1">
                {frame.word}
              </StateMark>
            </Command.Item>
          ))}
        </Command.List>
      </Command>
    </Popover>
  )
}

function matching(frames: ReadonlyMap<string, NodeFrame>, text: string): NodeFrame[] {
  const wanted = text.trim().toLowerCase()
  const found: NodeFrame[] = []
  for (const frame of frames.values()) {
    const said = `${frame.label} ${frame.id} ${frame.agent ?? ''} ${frame.word} ${frame.kind}`.toLowerCase()
    if (said.includes(wanted)) found.push(frame)
    if (found.length === shownMatches) break
  }
  return found
}
