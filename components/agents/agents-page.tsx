'use client'
/*
 * Agents: who they are, what they did, and how calls to them go. The list tells them apart and says who was heard when;
 * beside it stands the one that is chosen (`?agent=…`). On a phone it is the list, and the agent when one is chosen.
 */
import { ChevronLeft } from 'lucide-react'
import { useSearchParams } from 'next/navigation'
import { useCallback, useState } from 'react'
import { BreakerMark } from '@/components/breakers/breaker-mark'
import { NotHere } from '@/components/shell/not-here'
import { PageHead } from '@/components/shell/page-head'
import { Button } from '@/components/ui/button'
import { cx } from '@/components/ui/cx'
import { EmptyState } from '@/components/ui/empty-state'
import { ErrorNote } from '@/components/ui/error-note'
import { PageHelp } from '@/components/ui/page-help'
import { RelativeTime } from '@/components/ui/relative-time'
import { Skeleton } from '@/components/ui/skeleton'
import { satisfies } from '@/lib/hitl/roles'
import { useAgents } from '@/lib/ui/agent-queries'
import { useCircuits } from '@/lib/ui/circuit-queries'
import { count } from '@/lib/ui/format-time'
import { useLab } from '@/lib/ui/lab-queries'
import { links } from '@/lib/ui/links'
import { useMe } from '@/lib/ui/queries'
import { useShortcuts } from '@/lib/ui/shortcuts'
import { useSmallScreen } from '@/lib/ui/small-screen'
import type { AgentRow } from '@/lib/view/agent-wire'
import { isTroubled } from '@/lib/view/circuit-chart'
import type { CircuitRow } from '@/lib/view/circuit-wire'
import { faultKinds } from '@/lib/view/lab-wire'
import type { AgentAct } from './agent-act'
import { AgentDialog } from './agent-dialog'
import { AgentPanel } from './agent-panel'
import { RemoveAgent, RevokeKey, RotateKeys } from './key-dialogs'
import { SetRight } from './lab-fault'

const keyWords: [string, string][] = [
  ['j k', 'next and previous agent'],
  ['n', 'add an agent'],
]

export function Agents() {
  const query = useAgents()
  const me = useMe().data
  const circuits = useCircuits().data?.items
  const [asking, setAsking] = useState<AgentAct>()
  const administers = me !== undefined && satisfies(me.roles, 'administrator')
  const add = () => administers && setAsking({ act: 'put' })
  useShortcuts({ n: add })
  const agents = query.data?.items
  const done = () => setAsking(undefined)
  return (
    <>
      <PageHead title="Agents">
        {agents && <span className="text-ink-3">{count(agents.length, 'agent')}</span>}
        <span className="flex-1" />
        {administers && (agents?.length ?? 0) > 0 && (
          <Button size="sm" onClick={add}>
            Add an agent
          </Button>
        )}
        <PageHelp page="Agents" keys={keyWords}>
          Agents are programs that others run: steps call them, and they claim tasks. Each signs what it says
          with a key of its own, and is believed here only when that key is on its list. A key that is revoked
          signs nothing new; what it signed before goes on verifying. Administrators add, change and remove
          agents.
        </PageHelp>
      </PageHead>
      {query.isError && !agents ? (
        <ErrorNote
          title="The agents could not be read"
          error={query.error}
          means="Runs go on calling those that are registered."
          onRetry={() => void query.refetch()}
        />
      ) : !agents ? (
        <Skeleton what="agents" lines={8} row={44} />
      ) : agents.length === 0 ? (
        <EmptyState
          title="No agent is registered"
          {...(administers && { action: <Button onClick={add}>Add an agent</Button> })}
        >
          Add an agent with its address and public keys, and steps of your workflows can be done by it.
        </EmptyState>
      ) : (
        <Loaded agents={agents} circuits={circuits} administers={administers} onAct={setAsking} />
      )}
      {asking?.act === 'put' && <AgentDialog agent={asking.agent} onClose={done} />}
      {asking?.act === 'remove' && <RemoveAgent agent={asking.agent} onClose={done} />}
      {asking?.act === 'rotate' && <RotateKeys agent={asking.agent} onClose={done} />}
      {asking?.act === 'revoke' && <RevokeKey agent={asking.agent} kid={asking.kid} onClose={done} />}
    </>
  )
}

/** The agent that is open, kept in the URL. Opening one on a phone is a step that "back" takes back. */
function useOpenAgent(): [string | undefined, (agent: string | undefined, how?: 'push' | 'replace') => void] {
  const asked = useSearchParams().get('agent') ?? undefined
  const open = useCallback((agent: string | undefined, how: 'push' | 'replace' = 'replace') => {
    window.history[how === 'push' ? 'pushState' : 'replaceState'](null, '', links.agents({ agent }))
  }, [])
  return [asked, open]
}

function Loaded({
  agents,
  circuits,
  administers,
  onAct,
}: {
  agents: AgentRow[]
  circuits: CircuitRow[] | undefined
  administers: boolean
  onAct: (act: AgentAct) => void
}) {
  const small = useSmallScreen()
  const lab = useLab().data?.agents
  const me = useMe().data
  const mayOperate = me !== undefined && satisfies(me.roles, 'operator')
  const [asked, open] = useOpenAgent()
  const known = agents.find(({ id }) => id === asked)
  const shown = known ?? (small ? undefined : agents[0])
  const missing =
    asked === undefined || known
      ? undefined
      : { what: 'agent', asked, instead: shown ? `${shown.name} is shown` : 'these are all there are' }
  const select = (id: string) => open(id, small ? 'push' : 'replace')
  const step = (by: 1 | -1) => {
    const at = agents.findIndex(({ id }) => id === shown?.id)
    const next = agents[Math.min(agents.length - 1, Math.max(0, at + by))]
    if (next) select(next.id)
  }
  useShortcuts({ j: () => step(1), k: () => step(-1) })
  const of = (id: string) =>
    (circuits ?? []).filter(({ caller, downstream }) => caller.id === id || downstream.id === id)
  const panel = shown && (
    <AgentPanel
      key={shown.id}
      agent={shown}
      circuits={circuits && of(shown.id)}
      administers={administers}
      onAct={onAct}
    />
  )
  if (small && shown) {
    return (
      <div className="min-h-0 flex-1 overflow-auto">
        <div className="border-b px-1">
          <Button variant="quiet" onClick={() => open(undefined)}>
            <ChevronLeft size={16} strokeWidth={1.5} aria-hidden="true" />
            All agents
          </Button>
        </div>
        {panel}
      </div>
    )
  }
  return (
    <>
      <NotHere of={missing} />
      <div className="grid min-h-0 flex-1 grid-rows-[minmax(0,1fr)] md:grid-cols-[minmax(0,2fr)_minmax(0,3fr)]">
        <ul className="min-h-0 overflow-auto md:border-r" aria-label="Agents">
          {agents.map((agent) => {
            const inLab = lab?.find(({ id }) => id === agent.id)
            const selected = agent.id === shown?.id
            return (
              <li key={agent.id} className={cx('border-b', selected ? 'bg-selected' : 'hover:bg-hover')}>
                <AgentLine
                  agent={agent}
                  troubled={of(agent.id).find((row) => row.downstream.id === agent.id && isTroubled(row))}
                  selected={selected}
                  onSelect={() => select(agent.id)}
                />
                {inLab?.fault && (
                  <p className="flex items-center gap-3 px-4 pb-2 text-ink-2">
                    <span className="min-w-0 flex-1 text-t1">
                      Made to fail: {faultKinds[inLab.fault.kind]}
                    </span>
                    {mayOperate && <SetRight name={inLab.name} brief />}
                  </p>
                )}
              </li>
            )
          })}
        </ul>
        {!small && <div className="min-h-0 overflow-auto">{panel}</div>}
      </div>
    </>
  )
}

/** One agent in the list: its name and place, what is wrong with it, a breaker in trouble, and when it was heard. */
function AgentLine({
  agent,
  troubled,
  selected,
  onSelect,
}: {
  agent: AgentRow
  troubled: CircuitRow | undefined
  selected: boolean
  onSelect: () => void
}) {
  return (
    <button
      type="button"
      aria-current={selected || undefined}
      onClick={onSelect}
      className="ring-inside flex w-full items-center gap-3 px-4 py-2 text-left max-md:min-h-14"
    >
      <span className="min-w-0 flex-1">
        <span className="block truncate font-medium">{agent.name}</span>
        <span className="block truncate text-t1 text-ink-3">
          {[agent.role, agent.domain].filter(Boolean).join(', ') || agent.id.replace('spiffe://', '')}
        </span>
        {agent.keys.every(({ endedAt }) => endedAt !== undefined) && (
          <span className="block truncate text-t1 text-ink-2">No key left: nothing it signs is believed</span>
        )}
      </span>
      {troubled && <BreakerMark shown={troubled.shown} />}
      <span className="shrink-0 text-t1 text-ink-3">
        {agent.heardAt === undefined ? 'never heard' : <RelativeTime at={agent.heardAt} />}
      </span>
    </button>
  )
}
