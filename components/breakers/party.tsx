'use client'
import { Globe, Plug } from 'lucide-react'
import type { ReactNode } from 'react'
import { AgentIcon, WorkflowsIcon } from '@/components/ui/icons'
import { Menu, MenuItem, MenuLabel } from '@/components/ui/menu'
import { count } from '@/lib/ui/format-time'
import type { CircuitParty, CircuitRow } from '@/lib/view/circuit-wire'
import { breakerWords } from '@/lib/view/circuit-words'
import type { Point } from '@/lib/view/layout-terms'
import { BreakerShape } from './breaker-mark'
import { bundleWords, offeredOf } from './bundles'
import { partyWidth } from './narrowed'

/** One who calls or is called, with the breakers that are drawn as one beside it, and what is worth saying of it. */
export interface PartyShown {
  party: CircuitParty
  words: string
  /** Of what it is called by, or else of what it calls; several. */
  bundle: CircuitRow[]
}

/** Everybody on the map. */
export function partiesOf(rows: readonly CircuitRow[]): Map<string, PartyShown> {
  const parties = new Map<string, { party: CircuitParty; calls: CircuitRow[]; called: CircuitRow[] }>()
  const of = (party: CircuitParty) => {
    const known = parties.get(party.id) ?? { party, calls: [], called: [] }
    parties.set(party.id, known)
    return known
  }
  for (const row of rows) {
    of(row.caller).calls.push(row)
    of(row.downstream).called.push(row)
  }
  return new Map(
    [...parties].map(([id, { party, calls, called }]) => {
      const waits = calls.reduce((sum, { waiting }) => sum + waiting.count, 0)
      const kind = party.kind === 'agent' && called.length > 0 ? '' : kindWords[party.kind]
      const words = [
        kind,
        waits > 0 ? `${count(waits, 'run')} ${waits === 1 ? 'waits' : 'wait'}` : '',
        called.length > 0 ? count(called.length, 'caller') : '',
      ]
      const bundle = [called, calls].find(({ length }) => length > 1) ?? []
      return [id, { party, words: words.filter(Boolean).join(', '), bundle }]
    }),
  )
}

const kindWords: Record<CircuitParty['kind'], string> = {
  workflow: 'workflow',
  agent: 'agent',
  backend: 'model backend',
  mcp: 'MCP server',
  host: 'host',
}

const drawnIcon = { size: 16, strokeWidth: 1.25, 'aria-hidden': true } as const
const kindIcons: Record<CircuitParty['kind'], ReactNode> = {
  workflow: <WorkflowsIcon strokeWidth={1.25} />,
  agent: <AgentIcon strokeWidth={1.25} />,
  backend: <AgentIcon strokeWidth={1.25} />,
  mcp: <Plug {...drawnIcon} />,
  host: <Globe {...drawnIcon} />,
}

/** Where a party with a bundle is found, to be focused and scrolled to. */
export function partyElement(party: string): string {
  return `party-${party}`
}

/** A party as it is drawn; of one with several breakers in a bundle, a button whose menu has each of them. */
export function Party({
  party,
  words,
  bundle,
  stretch,
  at,
  hot,
  cursor,
  open,
  menuIn,
  onOpen,
  onFocus,
  onName,
  onSelect,
}: PartyShown & {
  /** Breakers of the one line that the menu was opened from: it offers no others then. */
  stretch: readonly CircuitRow[] | undefined
  at: Point
  hot: boolean
  /** Tab reaches it. */
  cursor: boolean
  open: boolean
  /** Where the menu is drawn. */
  menuIn: HTMLElement | null
  onOpen: (open: boolean) => void
  onFocus: () => void
  /** It is pointed at or focused, and not any more. */
  onName: (rows: readonly CircuitRow[], element?: HTMLElement) => void
  onSelect: (id: string) => void
}) {
  const face = (
    <>
      {kindIcons[party.kind]}
      <b>{party.name}</b>
      <small>{words}</small>
    </>
  )
  const style = { left: at.x, top: at.y, width: partyWidth }
  if (bundle.length === 0) {
    return (
      <div className="br-node" data-hot={hot} style={style} title={party.id}>
        {face}
      </div>
    )
  }
  const offered = offeredOf(party, stretch ?? bundle, stretch !== undefined)
  return (
    <Menu
      align="start"
      within={menuIn}
      open={open}
      onOpenChange={onOpen}
      trigger={
        <button
          type="button"
          id={partyElement(party.id)}
          className="br-node text-left"
          data-hot={hot}
          style={style}
          tabIndex={cursor ? 0 : -1}
          aria-label={`${bundleWords(bundle)}. Choose one`}
          onPointerEnter={({ currentTarget }) => onName(bundle, currentTarget)}
          onPointerLeave={() => onName([])}
          onFocus={({ currentTarget }) => {
            onFocus()
            onName(bundle, currentTarget)
          }}
          onBlur={() => onName([])}
        >
          {face}
        </button>
      }
    >
      <MenuLabel>{offered.label}</MenuLabel>
      {offered.items.map(({ row, name }) => (
        <MenuItem key={row.id} onSelect={() => onSelect(row.id)}>
          <BreakerShape shown={row.shown} />
          <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">{name}</span>
          <span className="text-t1 text-ink-3">{breakerWords[row.shown]}</span>
        </MenuItem>
      ))}
    </Menu>
  )
}
