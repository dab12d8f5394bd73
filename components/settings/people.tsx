'use client'
import { Ellipsis } from 'lucide-react'
import { useRef, useState } from 'react'
import { Button, IconButton } from '@/components/ui/button'
import { EmptyState } from '@/components/ui/empty-state'
import { ErrorNote } from '@/components/ui/error-note'
import { Input } from '@/components/ui/field'
import { Menu, MenuItem, MenuLine } from '@/components/ui/menu'
import { RelativeTime } from '@/components/ui/relative-time'
import { Skeleton } from '@/components/ui/skeleton'
import { StateMark } from '@/components/ui/state'
import { ActTh, Table, TableScroll, Td, Th } from '@/components/ui/table'
import { Tag } from '@/components/ui/tag'
import { absoluteTime } from '@/lib/ui/format-time'
import { useNow } from '@/lib/ui/now'
import { useMe } from '@/lib/ui/queries'
import { usePeople } from '@/lib/ui/settings-queries'
import { useShortcuts } from '@/lib/ui/shortcuts'
import type { PersonRow } from '@/lib/view/person-wire'
import { InvitePerson, type PersonAct, PersonDialog } from './person-dialogs'

/** Everyone who may sign in, and what can be done about each. */
export function People() {
  const query = usePeople()
  const find = useRef<HTMLInputElement>(null)
  const [text, setText] = useState('')
  const [inviting, setInviting] = useState(false)
  const [asking, setAsking] = useState<{ person: PersonRow; act: PersonAct }>()
  useShortcuts({ n: () => setInviting(true), '/': () => find.current?.focus() })
  if (query.isError && !query.data) {
    return (
      <ErrorNote
        title="The people could not be read"
        error={query.error}
        means="Who is signed in stays signed in."
        onRetry={() => void query.refetch()}
      />
    )
  }
  if (!query.data) return <Skeleton what="people" lines={4} />
  const everyone = query.data.items
  const wanted = text.trim().toLowerCase()
  const shown = everyone.filter(({ name, roles }) => [name, ...roles].some((words) => words.includes(wanted)))
  return (
    <>
      <div className="flex shrink-0 items-center gap-3 border-b px-4 py-1.5 max-md:py-2">
        <Input
          ref={find}
          type="search"
          aria-label="Find a person by name or role"
          placeholder="Find by name or role"
          className="h-7! max-w-60 max-md:h-12!"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return
            setText('')
            event.currentTarget.blur()
          }}
        />
        <span className="num whitespace-nowrap text-ink-3" role="status">
          {shown.length === everyone.length ? everyone.length : `${shown.length} of ${everyone.length}`}
        </span>
        <span className="flex-1" />
        <Button size="sm" onClick={() => setInviting(true)}>
          Invite<span className="-ml-1 max-md:hidden"> a person</span>
        </Button>
      </div>
      {shown.length === 0 ? (
        <EmptyState
          title="Nobody is called that"
          action={<Button onClick={() => setText('')}>Show everyone</Button>}
        >
          Names and roles are looked through.
        </EmptyState>
      ) : (
        <List people={shown} onAsk={(person, act) => setAsking({ person, act })} />
      )}
      {inviting && <InvitePerson onClose={() => setInviting(false)} />}
      {asking && <PersonDialog {...asking} onClose={() => setAsking(undefined)} />}
    </>
  )
}

function List({
  people,
  onAsk,
}: {
  people: PersonRow[]
  onAsk: (person: PersonRow, act: PersonAct) => void
}) {
  const me = useMe().data
  return (
    <TableScroll className="flex-1">
      <Table>
        <thead>
          <tr>
            <Th>Name</Th>
            <Th className="max-md:hidden">Roles</Th>
            <Th>State</Th>
            <Th className="max-md:hidden">Signed in</Th>
            <Th numeric className="max-md:hidden">
              Sessions
            </Th>
            <Th className="max-lg:hidden">Added</Th>
            <ActTh />
          </tr>
        </thead>
        <tbody>
          {people.map((person) => (
            <tr key={person.id} className="hover:bg-hover">
              <Td className="max-w-60 max-md:py-2">
                <span className="flex items-center gap-2">
                  <span className="truncate font-medium">{person.name}</span>
                  {person.id === me?.id && <Tag>you</Tag>}
                </span>
                <span className="block whitespace-normal text-t1 text-ink-3 [overflow-wrap:anywhere] md:hidden">
                  {person.roles.join(', ') || 'no role'}
                </span>
              </Td>
              <Td className="w-full max-w-0 max-md:hidden">
                <Roles roles={person.roles} />
              </Td>
              <Td>
                <PersonState person={person} />
              </Td>
              <Td className="text-ink-2 max-md:hidden">
                {person.signedInAt === undefined ? (
                  <span className="text-ink-3">{person.hasPassword ? 'not lately' : 'never'}</span>
                ) : (
                  <RelativeTime at={person.signedInAt} />
                )}
              </Td>
              <Td numeric className="text-ink-2 max-md:hidden">
                {person.sessions}
              </Td>
              <Td className="text-ink-3 max-lg:hidden">
                <RelativeTime at={person.createdAt} />
              </Td>
              <Td className="text-right">
                <Acts person={person} onAsk={(act) => onAsk(person, act)} />
              </Td>
            </tr>
          ))}
        </tbody>
      </Table>
      {people.length === 1 && people[0]?.id === me?.id && (
        <p className="px-4 py-3 text-ink-3">
          Nobody else can sign in yet. Invite those who decide, operate and write workflows.
        </p>
      )}
    </TableScroll>
  )
}

function Roles({ roles }: { roles: string[] }) {
  if (roles.length === 0) return <span className="text-ink-3">no role, so nothing can be seen</span>
  return (
    <span className="flex gap-1 overflow-hidden" title={roles.join(', ')}>
      {roles.map((role) => (
        <Tag key={role}>{role}</Tag>
      ))}
    </span>
  )
}

function PersonState({ person }: { person: PersonRow }) {
  const now = useNow(60_000)
  const { disabledAt, hasPassword, invitedUntil } = person
  if (disabledAt !== undefined) {
    return (
      <span title={`since ${absoluteTime(disabledAt)}`}>
        <StateMark state="skipped" className="align-middle">
          disabled
        </StateMark>
      </span>
    )
  }
  if (hasPassword)
    return (
      <StateMark state="done" className="align-middle">
        active
      </StateMark>
    )
  if (invitedUntil === undefined || invitedUntil <= now) {
    return (
      <StateMark state="pending" className="align-middle">
        invitation ran out
      </StateMark>
    )
  }
  return (
    <span title={`until ${absoluteTime(invitedUntil)}`}>
      <StateMark state="pending" className="align-middle">
        invited
      </StateMark>
    </span>
  )
}

function Acts({ person, onAsk }: { person: PersonRow; onAsk: (act: PersonAct) => void }) {
  const isOut = person.disabledAt !== undefined
  return (
    <Menu
      trigger={
        <IconButton label={`More for ${person.name}`} className="max-md:min-w-12">
          <Ellipsis size={16} strokeWidth={2} aria-hidden="true" />
        </IconButton>
      }
    >
      <MenuItem onSelect={() => onAsk('roles')}>Change roles…</MenuItem>
      <MenuItem disabled={isOut} onSelect={() => onAsk('link')}>
        {person.hasPassword ? 'Let them choose a new password…' : 'Make a new invitation…'}
      </MenuItem>
      <MenuItem disabled={person.sessions === 0} onSelect={() => onAsk('sessions')}>
        End their sessions…
      </MenuItem>
      <MenuLine />
      {isOut ? (
        <MenuItem onSelect={() => onAsk('enable')}>Enable {person.name}…</MenuItem>
      ) : (
        <MenuItem danger onSelect={() => onAsk('disable')}>
          Disable {person.name}…
        </MenuItem>
      )}
    </Menu>
  )
}
