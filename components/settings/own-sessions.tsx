'use client'
import { Button } from '@/components/ui/button'
import { ErrorNote } from '@/components/ui/error-note'
import { RelativeTime } from '@/components/ui/relative-time'
import { Skeleton } from '@/components/ui/skeleton'
import { ActTh, Table, TableScroll, Td, Th } from '@/components/ui/table'
import { Tag } from '@/components/ui/tag'
import { tell, warnOf } from '@/components/ui/toast'
import { absoluteTime, count } from '@/lib/ui/format-time'
import { useEndOwnSessions, useOwnSessions } from '@/lib/ui/settings-queries'
import type { SessionRow } from '@/lib/view/person-wire'
import { browserWords } from './browser-words'

/** Where one is signed in; any of them can be ended. */
export function OwnSessions() {
  const query = useOwnSessions()
  const end = useEndOwnSessions()
  if (query.isError && !query.data) {
    return (
      <ErrorNote
        title="Your sessions could not be read"
        error={query.error}
        onRetry={() => void query.refetch()}
      />
    )
  }
  if (!query.data) return <Skeleton what="your sessions" lines={2} />
  const sessions = query.data.items
  const others = sessions.filter(({ current }) => !current).length
  async function act(which: { id: string } | 'others', done: string) {
    try {
      await end.mutateAsync(which)
      tell(done)
    } catch (error) {
      warnOf('No session was ended', error)
    }
  }
  return (
    <>
      <TableScroll className="border-t">
        <Table>
          <thead>
            <tr>
              <Th className="pl-0!">Browser</Th>
              <Th>Address</Th>
              <Th className="max-md:hidden">Signed in</Th>
              <Th className="max-md:hidden">Ends</Th>
              <ActTh />
            </tr>
          </thead>
          <tbody>
            {sessions.map((session) => (
              <Row
                key={session.id}
                session={session}
                busy={end.isPending}
                onEnd={(name) => void act(session, `The session of ${name} ended`)}
              />
            ))}
          </tbody>
        </Table>
      </TableScroll>
      {others > 0 && (
        <Button
          className="mt-3"
          size="sm"
          busy={end.isPending}
          onClick={() => void act('others', `${count(others, 'other session')} ended`)}
        >
          End {others === 1 ? 'the other session' : `the ${others} other sessions`}
        </Button>
      )}
    </>
  )
}

function Row({
  session,
  busy,
  onEnd,
}: {
  session: SessionRow
  busy: boolean
  onEnd: (name: string) => void
}) {
  const name = browserWords(session.agent)
  return (
    <tr className="hover:bg-hover">
      <Td title={session.agent} className="w-full pl-0! max-md:py-2">
        <span className="flex items-center gap-2">
          {name}
          {session.current && <Tag>this one</Tag>}
        </span>
        <span className="text-ink-3 md:hidden">
          <RelativeTime at={session.createdAt} />
        </span>
      </Td>
      <Td className="mono text-ink-2">
        {session.address || <span className="font-sans text-ink-3">not known</span>}
      </Td>
      <Td className="text-ink-2 max-md:hidden">
        <RelativeTime at={session.createdAt} />
      </Td>
      <Td className="mono text-ink-3 max-md:hidden">
        <time dateTime={new Date(session.expiresAt).toISOString()} suppressHydrationWarning>
          {absoluteTime(session.expiresAt).slice(0, 16)}
        </time>
      </Td>
      <Td className="text-right">
        {!session.current && (
          <Button
            size="sm"
            variant="quiet"
            busy={busy}
            aria-label={`End the session of ${name} from ${session.address || 'an unknown address'}`}
            onClick={() => onEnd(name)}
          >
            End
          </Button>
        )}
      </Td>
    </tr>
  )
}
