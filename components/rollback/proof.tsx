'use client'
import { useState } from 'react'
import { ExportDialog } from '@/components/run/export-dialog'
import { VerifyButton } from '@/components/run/verify-button'
import { Button } from '@/components/ui/button'
import { CopyId } from '@/components/ui/copy-id'
import { Fact, Facts, Sub } from '@/components/ui/facts'
import { StateMark } from '@/components/ui/state'
import { count } from '@/lib/ui/format-time'
import type { useVerification } from '@/lib/ui/ledger-verify'
import { shortId } from '@/lib/ui/short-id'
import type { AgentPart, AgentStep } from '@/lib/view/agent-parts'
import type { RunDetail } from '@/lib/view/run-wire'
import { holderName } from './vote-words'

/** What a finished rollback can be proved by: the hashes per agent, whether the ledger holds, and the bundle to carry away. */
export function Proof({
  detail,
  parts,
  verification,
  seq,
}: {
  detail: RunDetail
  parts: readonly AgentPart[]
  verification: ReturnType<typeof useVerification>
  seq: number
}) {
  const [exporting, setExporting] = useState(false)
  const { id, workflow } = detail.row
  return (
    <section aria-label="Evidence" className="mt-4 border-t pt-4">
      <h3>Evidence</h3>
      <Facts label={120} dense className="mt-1">
        {parts.map((part) => (
          <Fact key={part.key} label={holderName(part)}>
            <PartProof part={part} />
          </Fact>
        ))}
      </Facts>
      <div className="mt-2 flex flex-wrap items-center gap-2">
        <VerifyButton verification={verification} seq={seq} />
        {detail.may.exports && (
          <Button size="sm" onClick={() => setExporting(true)}>
            Export incident…
          </Button>
        )}
      </div>
      {exporting && (
        <ExportDialog run={id} name={`${workflow}, ${shortId(id)}`} onClose={() => setExporting(false)} />
      )}
    </section>
  )
}

/** Hashes of so many steps of an agent are listed. */
const listed = 3

function PartProof({ part: { steps } }: { part: AgentPart }) {
  const restored = steps.filter(({ act }) => act?.status === 'completed' && act.stateHashAfter)
  const matching = restored.filter(isAsSealed)
  const signed = steps.filter(({ act }) => act?.evidence !== undefined).length
  const left = steps.filter(({ act }) => act?.status !== 'completed').length
  return (
    <>
      {matching.length > 0 && (
        <StateMark state="done">
          {count(matching.length, 'state is', 'states are')} as sealed, to the byte
        </StateMark>
      )}
      {restored.length > matching.length && (
        <span className="block">
          {count(restored.length - matching.length, 'state')} changed by another action, not compared
        </span>
      )}
      {left > 0 && (
        <span className="block">
          <Sub>{count(left, 'step was', 'steps were')} not taken back.</Sub>
        </span>
      )}
      {restored.slice(0, listed).map(({ key, act }) => (
        <span key={key} className="block text-t1 text-ink-3">
          {act?.stateHashBefore ? <CopyId id={act.stateHashBefore} what="state hash before" /> : 'unknown'}{' '}
          <span aria-hidden="true">→</span>
          <span className="sr-only">became</span>{' '}
          {act?.stateHashAfter && (
            <CopyId id={act.stateHashAfter} what="state hash after" className="text-ink" />
          )}
        </span>
      ))}
      {signed > 0 && (
        <span className="block text-t1 text-ink-3">{count(signed, 'answer')} signed by the agent itself</span>
      )}
    </>
  )
}

function isAsSealed({ step, act }: AgentStep): boolean {
  return act?.stateHashAfter !== undefined && act.stateHashAfter === step.sealedHash
}
