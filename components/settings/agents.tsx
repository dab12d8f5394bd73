'use client'
import { Ellipsis } from 'lucide-react'
import { useState } from 'react'
import { Button, IconButton } from '@/components/ui/button'
import { EmptyState } from '@/components/ui/empty-state'
import { ErrorNote } from '@/components/ui/error-note'
import { Menu, MenuItem, MenuLine } from '@/components/ui/menu'
import { RelativeTime } from '@/components/ui/relative-time'
import { Skeleton } from '@/components/ui/skeleton'
import { Table, TableScroll, Td, Th } from '@/components/ui/table'
import { tell } from '@/components/ui/toast'
import { count } from '@/lib/ui/format-time'
import { useAgents, useRemoveAgent } from '@/lib/ui/settings-queries'
import { useShortcuts } from '@/lib/ui/shortcuts'
import type { AgentRow } from '@/lib/view/agent-wire'
import { plainActor } from '@/lib/view/frame'
import { ActDialog } from './act-dialog'
import { AgentDialog } from './agent-dialog'

/** The agents that are registered, and what can be done about each. */
export function Agents() {
  const query = useAgents()
  const [asking, setAsking] = useState<{ act: 'put' | 'remove'; agent?: AgentRow }>()
  const add = () => setAsking({ act: 'put' })
  useShortcuts({ n: add })
  if (query.isError && !query.data) {
    return (
      <ErrorNote
        title="The agents could not be read"
        error={query.error}
        means="Runs go on calling those that are registered."
        onRetry={() => void query.refetch()}
      />
    )
  }
  if (!query.data) return <Skeleton what="agents" lines={4} />
  const agents = query.data.items
  return (
    <>
      {agents.length === 0 ? (
        <EmptyState title="No agent is registered" action={<Button onClick={add}>Add an agent</Button>}>
          A step can be done by an agent of yours once its address and public keys are known here.
        </EmptyState>
      ) : (
        <>
          <div className="flex shrink-0 items-center gap-3 border-b px-4 py-1.5">
            <span className="text-ink-3">{count(agents.length, 'agent')}</span>
            <span className="flex-1" />
            <Button size="sm" onClick={add}>
              Add an agent
            </Button>
          </div>
          <List agents={agents} onAsk={(agent, act) => setAsking({ agent, act })} />
        </>
      )}
      {asking?.act === 'put' && <AgentDialog agent={asking.agent} onClose={() => setAsking(undefined)} />}
      {asking?.act === 'remove' && asking.agent && (
        <RemoveAgent agent={asking.agent} onClose={() => setAsking(undefined)} />
      )}
    </>
  )
}

function List({
  agents,
  onAsk,
}: {
  agents: AgentRow[]
  onAsk: (agent: AgentRow, act: 'put' | 'remove') => void
}) {
  return (
    <TableScroll className="flex-1">
      <Table>
        <thead>
          <tr>
            <Th>Name</Th>
            <Th className="max-md:hidden">Id</Th>
            <Th className="max-md:hidden">Address</Th>
            <Th className="max-md:hidden">Keys</Th>
            <Th className="max-lg:hidden">Registered</Th>
            <Th>
              <span className="sr-only">Act</span>
            </Th>
          </tr>
        </thead>
        <tbody>
          {agents.map((agent) => (
            <tr key={agent.id} className="hover:bg-hover">
              <Td className="max-w-60 max-md:max-w-none max-md:py-2">
                <span className="block truncate font-medium">{agent.name}</span>
                <span className="mono block whitespace-normal text-ink-3 [overflow-wrap:anywhere] md:hidden">
                  {agent.id}
                </span>
              </Td>
              <Td className="mono w-1/2 max-w-0 truncate text-ink-2 max-md:hidden" title={agent.id}>
                {agent.id}
              </Td>
              <Td className="mono w-1/2 max-w-0 truncate text-ink-2 max-md:hidden" title={agent.baseUrl}>
                {agent.baseUrl}
              </Td>
              <Td className="mono text-ink-2 max-md:hidden">
                <span title={agent.keys.map(({ kid, alg }) => `${kid} (${alg})`).join('\n')}>
                  {agent.keys[0]?.kid}
                  {agent.keys.length > 1 && ` +${agent.keys.length - 1}`}
                </span>
              </Td>
              <Td className="text-ink-2 max-lg:hidden">
                <RelativeTime at={agent.addedAt} />{' '}
                <span className="text-ink-3">by {plainActor(agent.addedBy)}</span>
              </Td>
              <Td className="text-right">
                <Menu
                  trigger={
                    <IconButton label={`More for ${agent.name}`} className="max-md:min-w-12">
                      <Ellipsis size={16} strokeWidth={2} aria-hidden="true" />
                    </IconButton>
                  }
                >
                  <MenuItem onSelect={() => onAsk(agent, 'put')}>Change name, address, keys…</MenuItem>
                  <MenuLine />
                  <MenuItem danger onSelect={() => onAsk(agent, 'remove')}>
                    Remove {agent.name}…
                  </MenuItem>
                </Menu>
              </Td>
            </tr>
          ))}
        </tbody>
      </Table>
    </TableScroll>
  )
}

function RemoveAgent({ agent, onClose }: { agent: AgentRow; onClose: () => void }) {
  const remove = useRemoveAgent()
  return (
    <ActDialog
      title={`Remove ${agent.name}`}
      description={<span className="mono [overflow-wrap:anywhere]">{agent.id}</span>}
      button={`Remove ${agent.name}`}
      danger
      act={async () => {
        await remove.mutateAsync(agent.id)
        tell(`${agent.name} is removed`)
      }}
      onClose={onClose}
    >
      {() => (
        <p>
          Its requests are refused from now on, and steps that call it fail, those that would roll back too.
          It can be added again under the same id.
        </p>
      )}
    </ActDialog>
  )
}
