'use client'
import { ChevronDown } from 'lucide-react'
import Link from 'next/link'
import { useSearchParams } from 'next/navigation'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { Button } from '@/components/ui/button'
import { cx } from '@/components/ui/cx'
import { EmptyState } from '@/components/ui/empty-state'
import { ErrorNote } from '@/components/ui/error-note'
import { Kbd } from '@/components/ui/kbd'
import { Menu, MenuChoice } from '@/components/ui/menu'
import { PageHelp } from '@/components/ui/page-help'
import { Skeleton } from '@/components/ui/skeleton'
import { count } from '@/lib/ui/format-time'
import type { ApprovalShow } from '@/lib/ui/keys'
import { links } from '@/lib/ui/links'
import { useOpened } from '@/lib/ui/opened'
import { useApproval, useApprovals } from '@/lib/ui/queries'
import { useShortcuts } from '@/lib/ui/shortcuts'
import { answerKeys } from './answer-keys'
import { Decision } from './decision'
import { InboxItem } from './inbox-item'
import { byUrgency } from './urgency'

const keyWords: [string, string][] = [
  ['j k', 'next and previous question'],
  ['a', 'approve, or the first answer; held where it cannot be undone'],
  ['x', 'refuse, or the second answer'],
  ['d n p', 'the third to the fifth answer, where there are any'],
  ['1 … 9', 'give a state its event'],
  ['e', 'edit the change, then approve it'],
  ['m', 'write a comment'],
  ['i', 'input of the step'],
  ['t', 'its tokens'],
  ['c', 'its checkpoint'],
  ['g', 'the run’s graph'],
  ['v', 'the rollback it is about, with its votes'],
  ['r', 'roll back from what it is about'],
  ['b', 'the breakers it is about'],
]

const showWords: Record<ApprovalShow, string> = { open: 'Open', decided: 'Decided' }

/**
 * The inbox: questions at the left, the decision at the right; on a phone one or the other. The URL is the view
 * (`?item=appr_…&show=open|decided`). The question on screen stays the one on screen, whatever comes or goes in the list:
 * a key pressed as the list moves must never decide another one. Where an answer leads to the next question, that one's
 * keys rest until the person has acted (key-guard.ts).
 */
export function Inbox() {
  const params = useSearchParams()
  const opened = useOpened()
  const show: ApprovalShow = params.get('show') === 'decided' ? 'decided' : 'open'
  const item = params.get('item') ?? undefined
  const query = useApprovals(show)
  const rows = useMemo(() => {
    const all = query.data?.pages.flatMap((page) => page.items)
    return all && (show === 'open' ? byUrgency(all) : all)
  }, [query.data, show])

  const first = rows?.[0]?.id
  const [pinned, setPinned] = useState(first)
  // The question that came on screen without the person having chosen it.
  const [arrived, setArrived] = useState<string>()
  const wasEmpty = useRef(false)
  useEffect(() => {
    if (rows?.length === 0) wasEmpty.current = true
    if (item !== undefined || pinned !== undefined || !first) return
    setPinned(first)
    if (wasEmpty.current) setArrived(first)
  }, [rows, item, pinned, first])
  const selected = item ?? pinned
  const card = useApproval(selected).data

  const go = useCallback(
    (id: string | undefined, how: 'push' | 'replace', by: 'person' | 'itself' = 'person') => {
      setPinned(id)
      setArrived(by === 'itself' ? id : undefined)
      window.history[how === 'push' ? 'pushState' : 'replaceState'](
        null,
        '',
        links.approvals({ item: id, show: show === 'open' ? undefined : show }),
      )
    },
    [show],
  )
  const open = useCallback((id: string) => go(id, 'push'), [go])
  const index = rows?.findIndex((row) => row.id === selected) ?? -1
  // Where the question on screen was, for when it has left the list.
  const place = useRef(0)
  if (index >= 0) place.current = index
  const step = (by: 1 | -1) => {
    if (!rows || rows.length === 0) return
    const from = index >= 0 ? index : by > 0 ? place.current - 1 : place.current
    const next = rows[Math.max(0, Math.min(rows.length - 1, from + by))]
    if (next) go(next.id, 'replace')
  }
  const afterDecision = () => {
    const left = (rows ?? []).filter((row) => row.id !== selected)
    go((left[Math.min(place.current, left.length - 1)] ?? left[0])?.id, 'replace', 'itself')
  }
  useShortcuts({ j: () => step(1), k: () => step(-1) })

  return (
    <div className="grid min-h-0 flex-1 max-md:grid-cols-1 md:grid-cols-[minmax(260px,34%)_minmax(0,1fr)] lg:grid-cols-[400px_minmax(0,1fr)]">
      <section
        aria-label="Questions"
        className={cx('flex min-h-0 flex-col bg-canvas md:border-r', item && 'max-md:hidden')}
      >
        <div className="flex h-11 shrink-0 items-center gap-3 whitespace-nowrap border-b px-4 max-md:h-14">
          <h1 className="font-medium">Approvals</h1>
          <span className="min-w-0 flex-1 truncate text-ink-3" aria-live="polite">
            {rows && show === 'open' && rows.length > 0 && `${rows.length}, most urgent first`}
          </span>
          <Menu
            trigger={
              <Button size="sm" variant="quiet" className="-mr-2">
                {showWords[show]}
                <ChevronDown size={16} strokeWidth={1.5} aria-hidden="true" />
              </Button>
            }
          >
            <MenuChoice<ApprovalShow>
              label="Show"
              value={show}
              choices={[
                { value: 'open', word: showWords.open },
                { value: 'decided', word: showWords.decided },
              ]}
              onChange={(next) => {
                setPinned(undefined)
                window.history.pushState(
                  null,
                  '',
                  links.approvals({ show: next === 'open' ? undefined : next }),
                )
              }}
            />
          </Menu>
          <PageHelp page="Approvals" keys={keyWords}>
            Every step that is held for a person, and every question a run cannot answer itself. Nothing is
            decided by looking, and silence never approves unless the workflow’s author wrote so.
          </PageHelp>
        </div>
        <div className="min-h-0 flex-1 overflow-auto">
          {query.isError && !rows ? (
            <ErrorNote
              title="The questions could not be read"
              error={query.error}
              means="What is held stays held."
              onRetry={() => void query.refetch()}
            />
          ) : !rows ? (
            <Skeleton what="questions" lines={6} row={88} />
          ) : (
            <>
              <ul>
                {rows.map((row) => (
                  <InboxItem key={row.id} row={row} selected={row.id === selected} onSelect={open} />
                ))}
              </ul>
              {rows.length === 0 && <NothingHere show={show} phone />}
              {query.hasNextPage && (
                <div className="p-4">
                  <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                    Show older ones
                  </Button>
                </div>
              )}
            </>
          )}
        </div>
        <p className="flex min-h-10 shrink-0 flex-wrap items-center gap-x-3 gap-y-1 whitespace-nowrap border-t px-4 py-2 text-t1 text-ink-3 max-lg:hidden">
          <span>
            <Kbd>j</Kbd> <Kbd>k</Kbd> move
          </span>
          {answerKeys(card).map(([key, word]) => (
            <span key={key}>
              <Kbd>{key}</Kbd> {word}
            </span>
          ))}
          <span className="flex-1" />
          <span>
            <Kbd>?</Kbd> keys
          </span>
        </p>
      </section>
      <section
        aria-label="Decision"
        className={cx('flex min-h-0 min-w-0 flex-col', !item && 'max-md:hidden')}
        {...(item ? { 'data-phone-page': '' } : {})}
      >
        {selected ? (
          <Decision
            key={selected}
            id={selected}
            cameByItself={selected === arrived}
            place={index >= 0 && rows ? { at: index + 1, of: rows.length } : undefined}
            onBack={() => {
              window.history.pushState(
                null,
                '',
                links.approvals({ show: show === 'open' ? undefined : show }),
              )
            }}
            onDecided={afterDecision}
            onNext={rows && rows.length > 0 ? () => step(1) : undefined}
          />
        ) : (
          rows?.length === 0 && <NothingHere show={show} />
        )}
      </section>
      <p className="sr-only" aria-live="polite">
        {rows && show === 'open' ? openWords(rows.length, opened !== undefined) : ''}
      </p>
    </div>
  )
}

/** "2 questions wait"; of a bundle, as it was when it ends. */
function openWords(n: number, isPast: boolean): string {
  return isPast
    ? count(n, 'question waited', 'questions waited')
    : count(n, 'question waits', 'questions wait')
}

function NothingHere({ show, phone = false }: { show: ApprovalShow; phone?: boolean }) {
  const opened = useOpened()
  return (
    <div className={cx('flex flex-1', phone ? 'md:hidden' : 'max-md:hidden')}>
      {opened ? (
        <NotInBundle show={show} />
      ) : show === 'open' ? (
        <EmptyState
          title="Nothing waits for you"
          action={
            <Button asChild>
              <a href={links.workflows}>Open the workflows</a>
            </Button>
          }
        >
          A step is held here once its workflow says so, with <code>hitl_required</code> or a pause for
          approval.
        </EmptyState>
      ) : (
        <EmptyState title="Nothing was decided yet">
          Each decision is kept here with who made it, when and why.
        </EmptyState>
      )}
    </div>
  )
}

function NotInBundle({ show }: { show: ApprovalShow }) {
  if (show === 'decided')
    return <EmptyState title="Nobody decided anything">No question of its runs was answered.</EmptyState>
  return (
    <EmptyState
      title="No question was open"
      action={
        <Button asChild>
          <Link href={links.approvals({ show: 'decided' })}>See what was decided</Link>
        </Button>
      }
    >
      At the moment this bundle shows, none of its runs waited for a person.
    </EmptyState>
  )
}
