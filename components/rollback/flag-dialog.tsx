'use client'
import { useRouter } from 'next/navigation'
import { type ReactNode, useRef, useState } from 'react'
import { Button } from '@/components/ui/button'
import { Dialog } from '@/components/ui/dialog'
import { Field, Textarea } from '@/components/ui/field'
import { tell, warnOf } from '@/components/ui/toast'
import { isRefusal, newIdempotencyKey } from '@/lib/ui/api'
import { count } from '@/lib/ui/format-time'
import { links } from '@/lib/ui/links'
import { useFlag } from '@/lib/ui/run-queries'
import type { Dependent } from '@/lib/view/dependents'
import type { RunFold } from '@/lib/view/run-fold'
import type { RunDetail } from '@/lib/view/run-wire'
import { labelOf } from '@/lib/workflow/graph-index'

/** Characters of a reason: what the API takes. */
const reasonLength = 500
/** Steps that are listed; the rest are counted. */
const listed = 8

/**
 * "This looks wrong" for the step that is chosen: `ask` opens the dialog, and is there only while what the step gave can
 * be called wrong by this person.
 */
export function useFlagging({
  run,
  detail,
  fold,
  node,
  visit,
  past,
}: {
  run: string
  detail: RunDetail
  fold: RunFold
  node: string | undefined
  visit: number | undefined
  past: boolean
}): { ask: (() => void) | undefined; dialog: ReactNode } {
  const [asking, setAsking] = useState<{ node: string; visit: number }>()
  const at = node === undefined || past || !detail.may.operate ? undefined : fold.visit(node, visit)
  const may = at?.current === true && at.state.status === 'done' && fold.status !== 'rolling_back'
  return {
    ask: may ? () => setAsking({ node: at.node, visit: at.visit }) : undefined,
    dialog: asking && <FlagDialog run={run} fold={fold} step={asking} onClose={() => setAsking(undefined)} />,
  }
}

/** Asks what is wrong with what a step gave, shows what was made from it, and leads to the way back. */
function FlagDialog({
  run,
  fold,
  step: { node, visit },
  onClose,
}: {
  run: string
  fold: RunFold
  step: { node: string; visit: number }
  onClose: () => void
}) {
  const router = useRouter()
  const flag = useFlag(run)
  const [reason, setReason] = useState('')
  const [missing, setMissing] = useState(false)
  const keyOf = useRef(new Map<string, string>())
  const label = labelOf(fold.index, node)
  const dependents = fold.dependents(node)

  async function send() {
    const said = reason.trim()
    if (said === '') return setMissing(true)
    // Without an answer the key stays: sent again, it is the same finding.
    const idempotencyKey = keyOf.current.get(said) ?? newIdempotencyKey()
    keyOf.current.set(said, idempotencyKey)
    try {
      await flag.mutateAsync({ node, visit, reason: said, idempotencyKey })
      tell(`“${label}” counts as failed. Nothing is taken back yet.`)
      onClose()
      router.push(links.rollback(run, { node, scope: 'sub_dag', only: 'dependents' }))
    } catch (error) {
      if (isRefusal(error)) keyOf.current.delete(said)
      warnOf('Nothing was recorded', error)
    }
  }

  return (
    <Dialog
      open
      onClose={onClose}
      title={`“${label}” looks wrong`}
      description="It ended well, and what it gave is not right. It counts as failed from here on; nothing is taken back by that."
      actions={
        <>
          <Button variant="danger" busy={flag.isPending} onClick={() => void send()} wraps>
            Call “{label}” wrong and preview the way back
          </Button>
          <Button onClick={onClose}>Leave it as it is</Button>
        </>
      }
    >
      <Field
        label="What is wrong, kept in the ledger"
        {...(missing &&
          reason.trim() === '' && { error: 'Say what is wrong: whoever reads the ledger has only this.' })}
      >
        {(ids) => (
          <Textarea
            {...ids}
            rows={3}
            required
            autoFocus
            maxLength={reasonLength}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void send()
            }}
          />
        )}
      </Field>
      <Used dependents={dependents} labelOf={(id) => labelOf(fold.index, id)} />
    </Dialog>
  )
}

/** What was made from its output: that is what would have to be taken back with it. */
function Used({
  dependents,
  labelOf,
}: {
  dependents: readonly Dependent[]
  labelOf: (node: string) => string
}) {
  if (dependents.length === 0) {
    return <p className="mt-3 text-ink-2">No step has read what it gave, so nothing else is in doubt.</p>
  }
  const rest = dependents.length - listed
  return (
    <section aria-label="What used it" className="mt-3">
      <h3>{count(dependents.length, 'step was', 'steps were')} made from it</h3>
      <ul className="mt-1">
        {dependents.slice(0, listed).map(({ node, label, direct, reads }) => (
          <li key={node} className="border-t py-1.5 first:border-t-0">
            {label}{' '}
            <span className="text-ink-3">
              {direct ? 'read what it gave' : `read what ${reads.map(labelOf).join(' and ')} gave`}
            </span>
          </li>
        ))}
        {rest > 0 && <li className="border-t py-1.5 text-ink-3">and {rest} more</li>}
      </ul>
    </section>
  )
}
