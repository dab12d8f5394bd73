'use client'
import { ChevronLeft } from 'lucide-react'
import { IconButton } from '@/components/ui/button'
import { CopyId } from '@/components/ui/copy-id'
import { ErrorNote } from '@/components/ui/error-note'
import { Fact, Facts, Sub } from '@/components/ui/facts'
import { Skeleton } from '@/components/ui/skeleton'
import { isJsonObject } from '@/lib/base/json'
import { absoluteTime } from '@/lib/ui/format-time'
import { useValue } from '@/lib/ui/run-queries'
import { shortId } from '@/lib/ui/short-id'
import { agentName } from '@/lib/view/plain-words'
import { type ReadToken, readToken } from '@/lib/view/read-token'
import type { ValueView } from '@/lib/view/run-wire'

/** An agent's own signed answer, opened: what it says, and by which key. */
export function AgentTokenPanel({
  run,
  hash,
  agent,
  label,
  onBack,
}: {
  run: string
  hash: string
  agent: string | undefined
  label: string
  onBack: () => void
}) {
  const value = useValue(run, hash)
  const name = agent ? agentName(agent) : 'the agent'
  const token = value.data && tokenIn(value.data)
  return (
    <aside
      aria-label={`Answer of ${name}`}
      className="flex min-h-0 min-w-0 flex-col overflow-y-auto max-md:flex-1"
    >
      <div className="flex min-h-10 shrink-0 items-center gap-2 border-b pl-2 pr-4">
        <IconButton label="Back to the rollback" onClick={onBack}>
          <ChevronLeft size={16} strokeWidth={1.5} aria-hidden="true" />
        </IconButton>
        <h2 className="min-w-0 truncate">
          Answer of <span className="mono">{name}</span>
        </h2>
      </div>
      {value.isError ? (
        <ErrorNote
          title="Its answer could not be read"
          error={value.error}
          means="What the rollback came to stands in the ledger all the same."
          onRetry={() => void value.refetch()}
        />
      ) : !value.data ? (
        <Skeleton what="the answer" lines={6} />
      ) : !token ? (
        <p className="p-4 text-ink-3">What is kept as its answer is no token that can be shown.</p>
      ) : (
        <Opened token={token} hash={hash} label={label} />
      )}
    </aside>
  )
}

/** The token in a stored answer (RollbackEvidence), or the token that the answer is. */
function tokenIn({ json, base64 }: ValueView): ReadToken | undefined {
  const kept = json !== undefined && isJsonObject(json) ? json.token : json
  const text = typeof kept === 'string' ? kept : base64 === undefined ? undefined : atob(base64)
  if (text === undefined) return undefined
  return readToken(text)
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined)

function Opened({
  token: { compact, header, claims },
  hash,
  label,
}: {
  token: ReadToken
  hash: string
  label: string
}) {
  const par = Array.isArray(claims.par) ? claims.par.filter((id) => typeof id === 'string') : []
  const jti = textOf(claims.jti)
  return (
    <div className="px-4 py-2">
      <Facts label={96}>
        <Fact label="Says">
          <span className="mono">{textOf(claims.exec_act) ?? 'nothing'}</span> <Sub>about {label}</Sub>
        </Fact>
        <Fact label="Signed by">
          <span className="mono [overflow-wrap:anywhere]">{textOf(claims.iss) ?? 'nobody it names'}</span>
        </Fact>
        {jti !== undefined && (
          <Fact label="Id">
            <CopyId id={jti} what="token id" />
          </Fact>
        )}
        {typeof claims.iat === 'number' && (
          <Fact label="Time">
            <time dateTime={new Date(claims.iat * 1000).toISOString()}>
              {absoluteTime(claims.iat * 1000)}
            </time>
          </Fact>
        )}
        <Fact label="Follows">
          {par.length === 0 ? (
            <Sub>Nothing: it is a root.</Sub>
          ) : (
            <span className="mono flex flex-wrap gap-x-3">
              {par.map((id) => (
                <span key={id} title={id}>
                  {shortId(id)}
                </span>
              ))}
            </span>
          )}
        </Fact>
        <Fact label="Key">
          <span className="mono">{header.alg}</span> <Sub>by key</Sub>{' '}
          <span className="mono [overflow-wrap:anywhere]">{header.kid}</span>
        </Fact>
        <Fact label="Kept as">
          <CopyId id={hash} what="hash of the answer" />{' '}
          <Sub>verified when it came; an exported bundle proves it again, offline.</Sub>
        </Fact>
      </Facts>
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        tabIndex={0}
        aria-label="Claims"
        className="mb-2 mt-2 overflow-x-auto rounded-r2 border bg-well px-3 py-2"
      >
        <pre className="mono leading-5">{JSON.stringify(claims, null, 2)}</pre>
      </section>
      <p className="pb-4 text-t1 text-ink-3">
        Compact token <CopyId id={compact} what="compact token" className="text-ink-2" />
      </p>
    </div>
  )
}
