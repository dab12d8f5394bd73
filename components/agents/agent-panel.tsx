'use client'
import { Ellipsis } from 'lucide-react'
import Link from 'next/link'
import type { ReactNode } from 'react'
import { BreakerMark } from '@/components/breakers/breaker-mark'
import { percent } from '@/components/breakers/words'
import { Actor } from '@/components/ui/actor'
import { Button, IconButton } from '@/components/ui/button'
import { CopyId } from '@/components/ui/copy-id'
import { ErrorNote } from '@/components/ui/error-note'
import { Fact, Facts, Sub } from '@/components/ui/facts'
import { Menu, MenuItem, MenuLine } from '@/components/ui/menu'
import { RelativeTime } from '@/components/ui/relative-time'
import { Skeleton } from '@/components/ui/skeleton'
import { RunMark, StateMark } from '@/components/ui/state'
import { Tag } from '@/components/ui/tag'
import { satisfies } from '@/lib/hitl/roles'
import { useAgentActivity } from '@/lib/ui/agent-queries'
import { links } from '@/lib/ui/links'
import { useMe } from '@/lib/ui/queries'
import type { AgentActivity, AgentKey, AgentRow } from '@/lib/view/agent-wire'
import type { CircuitRow } from '@/lib/view/circuit-wire'
import { noCallsWords } from '@/lib/view/circuit-words'
import type { AgentAct } from './agent-act'
import { LabFault } from './lab-fault'
import { limitWords, protocolWords } from './words'

/** One agent: who it is, the keys it signs with, how calls to it go, and what it did last. */
export function AgentPanel({
  agent,
  circuits,
  administers,
  onAct,
}: {
  agent: AgentRow
  /** Those that it stands at either end of; undefined while they are read. */
  circuits: CircuitRow[] | undefined
  administers: boolean
  onAct: (act: AgentAct) => void
}) {
  const me = useMe().data
  const mayOperate = me !== undefined && satisfies(me.roles, 'operator')
  return (
    <section aria-label={agent.name} className="pb-8">
      <div className="flex flex-wrap items-center gap-2 px-4 pt-3">
        <h2 className="min-w-0 flex-1 [overflow-wrap:anywhere]">{agent.name}</h2>
        <span className="empty:hidden max-md:order-last max-md:basis-full max-md:pb-1">
          <LabFault agentId={agent.id} mayOperate={mayOperate} />
        </span>
        {administers && <Acts agent={agent} onAct={onAct} />}
      </div>
      <p className="mono px-4 pb-3 text-ink-3 [overflow-wrap:anywhere]">{agent.id}</p>
      <Who agent={agent} />
      <Part title="Keys">
        {agent.keys.map((key) => (
          <Key
            key={key.kid}
            agentKey={key}
            {...(administers && { onRevoke: () => onAct({ act: 'revoke', agent, kid: key.kid }) })}
          />
        ))}
      </Part>
      <Part title="Breakers">
        <Circuits agent={agent} circuits={circuits} />
      </Part>
      <Did id={agent.id} />
    </section>
  )
}

function Acts({ agent, onAct }: { agent: AgentRow; onAct: (act: AgentAct) => void }) {
  return (
    <Menu
      trigger={
        <IconButton label={`More for ${agent.name}`} className="max-md:min-w-12">
          <Ellipsis size={16} strokeWidth={2} aria-hidden="true" />
        </IconButton>
      }
    >
      <MenuItem onSelect={() => onAct({ act: 'put', agent })}>Change {agent.name}…</MenuItem>
      {agent.jwksUrl !== undefined && (
        <MenuItem onSelect={() => onAct({ act: 'rotate', agent })}>Fetch its keys again…</MenuItem>
      )}
      <MenuLine />
      <MenuItem danger onSelect={() => onAct({ act: 'remove', agent })}>
        Remove {agent.name}…
      </MenuItem>
    </Menu>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="mt-4 border-t px-4 pt-3">
      <h3 className="mb-1 text-t1 text-ink-3">{title}</h3>
      {children}
    </section>
  )
}

function Who({ agent }: { agent: AgentRow }) {
  const { heardAt, domain, role, protocols, baseUrl, limits, jwksUrl, keysAt } = agent
  return (
    <Facts dense label={96} className="px-4">
      <Fact label="Heard">
        {heardAt === undefined ? (
          'never: no token or answer of it has verified yet'
        ) : (
          <RelativeTime at={heardAt} />
        )}
      </Fact>
      {domain !== '' && <Fact label="Domain">{domain}</Fact>}
      {role !== '' && <Fact label="Role">{role}</Fact>}
      <Fact label="Speaks">
        <span className="flex flex-wrap gap-1">
          {protocols.map((protocol) => (
            <span key={protocol} title={protocolWords[protocol]}>
              <Tag>{protocol}</Tag>
            </span>
          ))}
        </span>
      </Fact>
      <Fact label="Address">
        <span className="mono">{baseUrl}</span>
      </Fact>
      <Fact label="Limits">
        {limitWords(limits)}.{' '}
        <Sub>
          <Link href={links.bulkheads} className="underline underline-offset-4">
            Bulkheads
          </Link>
        </Sub>
      </Fact>
      <Fact label="Keys from">
        {jwksUrl === undefined ? 'by hand' : <span className="mono">{jwksUrl}</span>}
        {keysAt !== undefined && (
          <Sub>
            , fetched <RelativeTime at={keysAt} />
          </Sub>
        )}
      </Fact>
      <Fact label="Registered">
        <RelativeTime at={agent.addedAt} />{' '}
        <Sub>
          by <Actor id={agent.addedBy} />
        </Sub>
      </Fact>
    </Facts>
  )
}

/** A key by its thumbprint. One that ended says so in words, with who ended it. */
function Key({ agentKey, onRevoke }: { agentKey: AgentKey; onRevoke?: () => void }) {
  const { kid, alg, thumbprint, endedAt, endedBy } = agentKey
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b py-2 last:border-b-0">
      <div className="min-w-0 flex-1 basis-60">
        <p className="mono [overflow-wrap:anywhere]">
          {kid} <span className="text-ink-3">{alg}</span>
        </p>
        {thumbprint !== kid && (
          <p className="text-t1 text-ink-3 [overflow-wrap:anywhere]">
            thumbprint <span className="mono">{thumbprint}</span>
          </p>
        )}
      </div>
      {endedAt === undefined ? (
        onRevoke && (
          <Button size="sm" onClick={onRevoke}>
            Revoke…
          </Button>
        )
      ) : (
        <p className="text-t1 text-ink-2">
          {endedBy === 'publisher' ? 'published no more, ' : 'revoked '}
          <RelativeTime at={endedAt} />
          {endedBy !== undefined && endedBy !== '' && endedBy !== 'publisher' && (
            <>
              {' '}
              by <Actor id={endedBy} />
            </>
          )}
        </p>
      )}
    </div>
  )
}

function Circuits({ agent, circuits }: { agent: AgentRow; circuits: CircuitRow[] | undefined }) {
  if (!circuits) return <Skeleton what="its breakers" lines={1} />
  if (circuits.length === 0) return <p className="text-ink-3">Nobody has called it within the hour.</p>
  return (
    <ul>
      {circuits.map((row) => (
        <li key={row.id} className="border-b last:border-b-0">
          <Link
            href={links.breakers({ circuit: row.id })}
            className="flex min-h-8 items-center gap-3 py-1 hover:bg-hover max-md:min-h-12"
          >
            <span className="min-w-0 flex-1 truncate">
              {row.downstream.id === agent.id
                ? `called by ${row.caller.name}`
                : `calls ${row.downstream.name}`}
            </span>
            {row.counts.calls === 0 ? (
              <span className="text-ink-3">{noCallsWords(row.windowS)}</span>
            ) : (
              <span className="tabular-nums text-ink-3">{percent(row.errorRate)} failed</span>
            )}
            <BreakerMark shown={row.shown} className="w-28 justify-end" />
          </Link>
        </li>
      ))}
    </ul>
  )
}

function Did({ id }: { id: string }) {
  const query = useAgentActivity(id)
  if (query.isError && !query.data) {
    return (
      <ErrorNote
        title="What it did could not be read"
        error={query.error}
        means="The runs themselves are under Runs."
        onRetry={() => void query.refetch()}
      />
    )
  }
  if (!query.data) return <Skeleton what="what it did" lines={4} />
  const { steps, runs, more } = query.data
  return (
    <>
      <Part title="Last steps">
        <Steps steps={steps} />
      </Part>
      <Part title="Last runs">
        <Runs runs={runs} />
        {more && <p className="pt-2 text-t1 text-ink-3">Only the newest runs were looked through.</p>}
      </Part>
    </>
  )
}

const rowClass = 'flex min-h-8 items-center gap-3 py-1 hover:bg-hover max-md:min-h-12'

function Steps({ steps }: Pick<AgentActivity, 'steps'>) {
  if (steps.length === 0) return <p className="text-ink-3">It has done nothing in the newest runs.</p>
  return (
    <ul>
      {steps.map(({ run, node, visit, label, workflow, shown, word, at }) => (
        <li key={`${run} ${node} ${visit}`} className="border-b last:border-b-0">
          <Link href={links.run(run, { node, visit })} className={rowClass}>
            <span className="min-w-0 flex-1">
              <span className="block truncate">{label}</span>
              <span className="block truncate text-t1 text-ink-3">{workflow}</span>
            </span>
            <StateMark state={shown}>{word}</StateMark>
            {at !== undefined && <RelativeTime at={at} className="w-20 shrink-0 text-right text-ink-3" />}
          </Link>
        </li>
      ))}
    </ul>
  )
}

const partWords: Record<AgentActivity['runs'][number]['part'], string> = {
  began: 'began it',
  reports: 'reports into it',
  works: 'works in it',
}

function Runs({ runs }: Pick<AgentActivity, 'runs'>) {
  if (runs.length === 0) return <p className="text-ink-3">It has no part in the newest runs.</p>
  return (
    <ul>
      {runs.map((run) => (
        <li key={run.id} className="flex items-center gap-3 border-b last:border-b-0">
          <Link href={links.run(run.id)} className={`${rowClass} min-w-0 flex-1`}>
            <span className="min-w-0 flex-1">
              <span className="block truncate">{run.workflow}</span>
              <span className="block truncate text-t1 text-ink-3">{partWords[run.part]}</span>
            </span>
            <RunMark run={run} />
            <RelativeTime at={run.startedAt} className="w-20 shrink-0 text-right text-ink-3" />
          </Link>
          <span className="max-md:hidden">
            <CopyId id={run.id} what="run id" />
          </span>
        </li>
      ))}
    </ul>
  )
}
