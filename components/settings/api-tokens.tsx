'use client'
import { useState } from 'react'
import { Button } from '@/components/ui/button'
import { ErrorNote } from '@/components/ui/error-note'
import { Field, Input, Select } from '@/components/ui/field'
import { RelativeTime } from '@/components/ui/relative-time'
import { Skeleton } from '@/components/ui/skeleton'
import { StateMark } from '@/components/ui/state'
import { ActTh, Table, TableScroll, Td, Th } from '@/components/ui/table'
import { tell } from '@/components/ui/toast'
import { absoluteTime } from '@/lib/ui/format-time'
import { useNow } from '@/lib/ui/now'
import { useMakeToken, useOwnTokens, useRevokeToken } from '@/lib/ui/settings-queries'
import { useShortcuts } from '@/lib/ui/shortcuts'
import type { ApiTokenRow, NewApiToken } from '@/lib/view/person-wire'
import type { AccountBounds } from './account-bounds'
import { ActDialog } from './act-dialog'
import { SecretDialog } from './secret-dialog'
import { faultAt, scopeWords } from './words'

/** One's own API tokens: those that work, and those that are over, which say so. */
export function ApiTokens({ bounds }: { bounds: AccountBounds }) {
  const query = useOwnTokens()
  const [making, setMaking] = useState(false)
  const [revoking, setRevoking] = useState<ApiTokenRow>()
  useShortcuts({ n: () => setMaking(true) })
  if (query.isError && !query.data) {
    return (
      <ErrorNote
        title="Your API tokens could not be read"
        error={query.error}
        means="Those that are in use go on working."
        onRetry={() => void query.refetch()}
      />
    )
  }
  if (!query.data) return <Skeleton what="your API tokens" lines={2} />
  const tokens = query.data.items
  return (
    <>
      {tokens.length === 0 ? (
        <p className="text-ink-3">No API token yet.</p>
      ) : (
        <TableScroll className="border-t">
          <Table>
            <thead>
              <tr>
                <Th className="pl-0!">Name</Th>
                <Th className="max-md:hidden">Scopes</Th>
                <Th className="max-md:hidden">Last used</Th>
                <Th>State</Th>
                <ActTh />
              </tr>
            </thead>
            <tbody>
              {tokens.map((token) => (
                <Row key={token.id} token={token} onRevoke={() => setRevoking(token)} />
              ))}
            </tbody>
          </Table>
        </TableScroll>
      )}
      <Button className="mt-3" size="sm" onClick={() => setMaking(true)}>
        Make an API token
      </Button>
      {making && <MakeToken bounds={bounds} onClose={() => setMaking(false)} />}
      {revoking && <RevokeToken token={revoking} onClose={() => setRevoking(undefined)} />}
    </>
  )
}

function Row({ token, onRevoke }: { token: ApiTokenRow; onRevoke: () => void }) {
  const now = useNow(60_000)
  const isOver = token.revokedAt !== undefined || token.expiresAt <= now
  const scopes = token.scopes.join(', ')
  return (
    <tr className="hover:bg-hover">
      <Td className="max-w-48 pl-0! max-md:py-2">
        <span className={isOver ? 'block truncate text-ink-3' : 'block truncate font-medium'}>
          {token.name}
        </span>
        <span className="mono block whitespace-normal text-ink-3 md:hidden">{scopes}</span>
      </Td>
      <Td className="mono w-full max-w-0 truncate text-ink-2 max-md:hidden" title={scopes}>
        {scopes}
      </Td>
      <Td className="text-ink-2 max-md:hidden">
        {token.lastUsedAt === undefined ? (
          <span className="text-ink-3">never</span>
        ) : (
          <RelativeTime at={token.lastUsedAt} />
        )}
      </Td>
      <Td>
        {token.revokedAt !== undefined ? (
          <StateMark state="skipped" className="align-middle">
            revoked
          </StateMark>
        ) : isOver ? (
          <StateMark state="skipped" className="align-middle">
            ran out
          </StateMark>
        ) : (
          <span className="text-ink-2">
            until{' '}
            <time
              className="mono"
              dateTime={new Date(token.expiresAt).toISOString()}
              title={absoluteTime(token.expiresAt)}
            >
              {absoluteTime(token.expiresAt).slice(0, 10)}
            </time>
          </span>
        )}
      </Td>
      <Td className="text-right">
        {!isOver && (
          <Button size="sm" variant="quiet" aria-label={`Revoke ${token.name}…`} onClick={onRevoke}>
            Revoke…
          </Button>
        )}
      </Td>
    </tr>
  )
}

const lifetimes = [
  { days: 7, words: 'a week' },
  { days: 30, words: '30 days' },
  { days: 90, words: '90 days' },
  { days: 366, words: 'a year' },
]

function MakeToken({ bounds, onClose }: { bounds: AccountBounds; onClose: () => void }) {
  const make = useMakeToken()
  const [name, setName] = useState('')
  const [days, setDays] = useState(30)
  const [scopes, setScopes] = useState<string[]>(['runs:read'])
  const [made, setMade] = useState<NewApiToken>()
  if (made) return <MadeToken made={made} onClose={onClose} />
  const asked = name.trim()
  return (
    <ActDialog
      title="Make an API token"
      description="What it does is written down under your name and its own."
      button={asked ? `Make the token ${asked}` : 'Make the token'}
      fields={['name', 'scopes']}
      act={async () => {
        if (asked === '')
          throw faultAt('name', 'A token needs a name; it says in ledgers which program acted.')
        if (scopes.length === 0) throw faultAt('scopes', 'A token needs at least one scope.')
        setMade(await make.mutateAsync({ name: asked, scopes, days }))
      }}
      onClose={onClose}
      keepsOpen
    >
      {(faults) => (
        <div className="flex flex-col gap-4">
          <Field label="Name" help="The program or machine that uses it." error={faults.name}>
            {(ids) => (
              <Input
                {...ids}
                autoFocus
                autoComplete="off"
                spellCheck={false}
                maxLength={60}
                value={name}
                onChange={(event) => setName(event.target.value)}
              />
            )}
          </Field>
          <fieldset className="flex flex-col" aria-describedby="scopes-fault">
            <legend className="pb-1 text-t1 text-ink-2">It may</legend>
            {bounds.scopes.map((scope) => (
              <label key={scope} className="flex items-start gap-2 py-1 max-md:min-h-12 max-md:items-center">
                <input
                  type="checkbox"
                  checked={scopes.includes(scope)}
                  onChange={(event) =>
                    setScopes((before) =>
                      event.target.checked ? [...before, scope] : before.filter((one) => one !== scope),
                    )
                  }
                  className="mt-0.5 size-4 shrink-0 accent-ink max-md:mt-0 max-md:size-5"
                />
                <span className="min-w-0 flex-1">{scopeWords[scope] ?? scope}</span>
                <span className="mono text-ink-3">{scope}</span>
              </label>
            ))}
            <p id="scopes-fault" role="alert" className="text-t1 text-failed-ink">
              {faults.scopes}
            </p>
          </fieldset>
          <Field label="It works for">
            {(ids) => (
              <Select {...ids} value={days} onChange={(event) => setDays(Number(event.target.value))}>
                {lifetimes
                  .filter((one) => one.days <= bounds.maxTokenDays)
                  .map((one) => (
                    <option key={one.days} value={one.days}>
                      {one.words}
                    </option>
                  ))}
              </Select>
            )}
          </Field>
        </div>
      )}
    </ActDialog>
  )
}

function MadeToken({ made, onClose }: { made: NewApiToken; onClose: () => void }) {
  return (
    <SecretDialog
      title={`The API token ${made.token.name}`}
      description={`It works until ${absoluteTime(made.token.expiresAt).slice(0, 10)}. Keep it where the program keeps its secrets.`}
      label="Token"
      secret={made.secret}
      onClose={onClose}
    >
      <p className="mt-3 text-ink-2">
        Programs send it with each request as <code>Authorization: Bearer hp_…</code>
      </p>
    </SecretDialog>
  )
}

function RevokeToken({ token, onClose }: { token: ApiTokenRow; onClose: () => void }) {
  const revoke = useRevokeToken()
  return (
    <ActDialog
      title={`Revoke the API token ${token.name}`}
      button={`Revoke ${token.name}`}
      danger
      act={async () => {
        await revoke.mutateAsync(token.id)
        tell(`The token ${token.name} is revoked`)
      }}
      onClose={onClose}
    >
      {() => (
        <p>
          Whatever uses it is refused from its next request on. It cannot be brought back; make another one
          instead.
        </p>
      )}
    </ActDialog>
  )
}
