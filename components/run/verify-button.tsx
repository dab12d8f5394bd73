'use client'
import { ShieldQuestion } from 'lucide-react'
import { Button } from '@/components/ui/button'
import { CopyId } from '@/components/ui/copy-id'
import { cx } from '@/components/ui/cx'
import { Fact, Facts, Sub } from '@/components/ui/facts'
import { VerifiedIcon } from '@/components/ui/icons'
import { Popover } from '@/components/ui/popover'
import { RelativeTime } from '@/components/ui/relative-time'
import { StateShape } from '@/components/ui/state'
import { count } from '@/lib/ui/format-time'
import type { useVerification, Verification } from '@/lib/ui/ledger-verify'

/** How far the evidence holds, and the check itself: it is done in this browser, not asked of the server. */
export function VerifyButton({
  verification: { state, verify },
  seq,
}: {
  verification: ReturnType<typeof useVerification>
  seq: number
}) {
  return (
    <Popover
      label="Verification of the ledger"
      trigger={
        <button
          type="button"
          className={cx(
            'flex h-7 items-center gap-1.5 rounded-r2 border border-transparent px-1.5 hover:bg-hover max-md:h-11',
            failed(state) ? 'border-failed-line bg-failed-wash text-failed-ink' : 'text-ink-2',
          )}
        >
          <Mark state={state} />
          <span aria-live="polite">
            <Short state={state} seq={seq} />
          </span>
        </button>
      }
    >
      <h2>Verification</h2>
      <Details state={state} seq={seq} />
      <Button size="sm" className="mt-3" busy={state.status === 'checking'} onClick={() => void verify()}>
        {state.status === 'idle' ? `Verify ${count(seq, 'token')}` : 'Verify again'}
      </Button>
    </Popover>
  )
}

function failed(state: Verification): boolean {
  return state.status === 'checked' && !state.verdict.holds
}

function Mark({ state }: { state: Verification }) {
  if (failed(state)) return <StateShape state="failed" />
  if (state.status === 'checking') return <StateShape state="running" />
  if (state.status === 'checked') return <VerifiedIcon className="text-done-mark" />
  return <ShieldQuestion size={16} strokeWidth={1.5} className="text-ink-3" aria-hidden="true" />
}

function Short({ state, seq }: { state: Verification; seq: number }) {
  const total = <span className="num">{seq.toLocaleString('en')}</span>
  switch (state.status) {
    case 'idle':
      return <>Verify {total} tokens</>
    case 'impossible':
      return <>not verified</>
    case 'checking':
      return (
        <>
          <span className="num">{state.done.toLocaleString('en')}</span> of {total}
          <span className="max-md:sr-only"> tokens</span>
        </>
      )
    case 'checked':
      return state.verdict.holds ? (
        <>
          <span className="num">{state.verdict.tokens.toLocaleString('en')}</span> of {total}
          <span className="max-md:sr-only"> tokens</span>
        </>
      ) : (
        <>
          token <span className="num">{state.verdict.failure.seq}</span> does not hold
        </>
      )
    default:
      return state satisfies never
  }
}

function Details({ state, seq }: { state: Verification; seq: number }) {
  switch (state.status) {
    case 'idle':
      return <p className="mt-1 text-ink-2">Nothing of this ledger has been checked in this browser yet.</p>
    case 'checking':
      return (
        <>
          <p className="mt-1 text-ink-2">
            Checking signatures, links and the chain of {count(state.total, 'token')}.
          </p>
          <progress className="mt-2 h-1 w-full" max={Math.max(1, state.total)} value={state.done}>
            {state.done}
          </progress>
        </>
      )
    case 'impossible':
      return <p className="mt-1 text-ink-2">{state.sentence}</p>
    case 'checked':
      return state.verdict.holds ? (
        <Facts label={88} className="mt-2">
          <Fact label="Signatures">
            {count(state.verdict.tokens, 'token')} verified in this browser.{' '}
            {seq > state.verdict.tokens && (
              <Sub>{count(seq - state.verdict.tokens, 'newer one')} to come.</Sub>
            )}
          </Fact>
          <Fact label="Chain">
            Unbroken from token 1. <Sub>It ends at</Sub> <CopyId id={state.verdict.lastHash} what="hash" />
          </Fact>
          <Fact label="Heads">
            {state.verdict.heads === 0 ? 'None yet.' : `${count(state.verdict.heads, 'signed head')} hold.`}{' '}
            <Sub>One is written at the end and every 1,000 tokens.</Sub>
          </Fact>
          <Fact label="Keys">
            <span className="mono">{state.verdict.kids.join(', ')}</span>
          </Fact>
          <Fact label="Checked">
            <RelativeTime at={state.at} />
          </Fact>
        </Facts>
      ) : (
        <div role="alert" className="mt-2 text-failed-ink">
          <p className="font-medium">
            Token {state.verdict.failure.seq} does not hold; nothing after it is believed.
          </p>
          <p className="mt-1 [overflow-wrap:anywhere]">{state.verdict.failure.sentence}</p>
          <p className="mono mt-1">{state.verdict.failure.code}</p>
        </div>
      )
    default:
      return state satisfies never
  }
}
