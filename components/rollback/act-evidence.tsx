'use client'
import { CopyId } from '@/components/ui/copy-id'
import type { AgentStep } from '@/lib/view/agent-parts'
import { agentName } from '@/lib/view/plain-words'
import type { RunFold } from '@/lib/view/run-fold'

/** What can be opened beside a rollback: a token of the run's ledger, or an agent's own. */
export type OpenedEvidence =
  | { kind: 'ledger'; seq: number }
  | { kind: 'agent'; hash: string; agent: string | undefined; label: string }

export type OnEvidence = (evidence: OpenedEvidence) => void

/** The proof of one act: the state before and after by its hash, our tokens of it, and the agent's own signed answer. */
export function ActEvidence({
  of: { step, act, vote },
  fold,
  onOpen,
}: {
  of: AgentStep
  fold: RunFold
  onOpen: OnEvidence
}) {
  const { stateHashBefore: before, stateHashAfter: after, evidence } = act ?? {}
  const tokens = [
    { word: 'vote', jti: vote?.jti },
    { word: 'began', jti: act && act.jti !== act.resultJti ? act.jti : undefined },
    { word: 'answered', jti: act?.resultJti },
  ].flatMap(({ word, jti }) => {
    const seq = jti === undefined ? undefined : fold.seqOf(jti)
    return seq === undefined ? [] : [{ word, seq }]
  })
  if (before === undefined && after === undefined && tokens.length === 0) return null
  return (
    <span className="mt-0.5 flex flex-wrap items-baseline gap-x-3 text-t1 text-ink-3">
      {(before !== undefined || after !== undefined) && (
        <span className="whitespace-nowrap">
          {before ? <CopyId id={before} what="state hash before" /> : 'unknown'}{' '}
          <span aria-hidden="true">→</span>
          <span className="sr-only">became</span>{' '}
          {after ? <CopyId id={after} what="state hash after" className="text-ink" /> : 'unknown'}
        </span>
      )}
      {tokens.map(({ word, seq }) => (
        <EvidenceButton key={word} onClick={() => onOpen({ kind: 'ledger', seq })}>
          {word} <span className="num">{seq.toLocaleString('en')}</span>
        </EvidenceButton>
      ))}
      {evidence !== undefined && (
        <EvidenceButton
          onClick={() => onOpen({ kind: 'agent', hash: evidence, agent: step.agent, label: step.label })}
        >
          signed by {step.agent ? agentName(step.agent) : 'its agent'}
        </EvidenceButton>
      )}
    </span>
  )
}

function EvidenceButton({ onClick, children }: { onClick: () => void; children: React.ReactNode }) {
  return (
    <button
      type="button"
      onClick={onClick}
      className="whitespace-nowrap rounded-r1 text-ink-2 underline decoration-line-strong underline-offset-4 hover:text-ink hover:decoration-ink max-md:py-2"
    >
      {children}
    </button>
  )
}
