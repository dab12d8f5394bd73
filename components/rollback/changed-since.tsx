'use client'
import Link from 'next/link'
import { useState } from 'react'
import { Disclosure } from '@/components/ui/disclosure'
import { Notice } from '@/components/ui/notice'
import type { ChangedBy } from '@/lib/rollback/terms'
import { links } from '@/lib/ui/links'
import type { RollbackPlanView } from '@/lib/view/rollback-wire'
import { changedSteps, overwriteWords, planKey, planName } from './plan-words'
import { PutBackDifference } from './put-back'

/** What somebody else changed since; it is put back only by an explicit word. Nothing where there is none. */
export function ChangedSince({
  plan,
  may,
  overwrite,
  onOverwrite,
}: {
  plan: RollbackPlanView
  /** They may roll back, so they may see what that would undo. */
  may: boolean
  overwrite: boolean
  onOverwrite: (overwrite: boolean) => void
}) {
  const steps = changedSteps(plan)
  if (steps.length === 0) return null
  return (
    <Notice label="Changed since" state="escalated">
      <div className="min-w-0 flex-1">
        {steps.map((step) => (
          <div key={planKey(step)} className="mb-1 [overflow-wrap:anywhere]">
            <b>{planName(step, plan)}.</b> {step.sentence}
            {step.changedBy && (
              <>
                {' '}
                <Link
                  href={stepOf(step.changedBy)}
                  className="underline decoration-line-strong underline-offset-4 hover:decoration-ink"
                >
                  See what it did
                </Link>
              </>
            )}
            {may && step.checkpointId !== undefined && (
              <WouldUndo path={`/runs/${plan.run}/checkpoints/${step.checkpointId}/put-back`} />
            )}
          </div>
        ))}
        <label className="mt-2 flex items-start gap-2 max-md:min-h-12">
          <input
            type="checkbox"
            checked={overwrite}
            onChange={(event) => onOverwrite(event.target.checked)}
            className="mt-0.5 size-4 shrink-0 accent-ink"
          />
          <span>{overwriteWords(steps.length)}</span>
        </label>
        {!overwrite && (
          <p className="mt-1 text-t1 text-ink-2">
            Otherwise nothing is done to {steps.length === 1 ? 'it' : 'them'}: before anything changes, you or
            the workflow say how the rest goes on.
          </p>
        )}
      </div>
    </Notice>
  )
}

function WouldUndo({ path }: { path: string }) {
  const [open, setOpen] = useState(false)
  return (
    <Disclosure title="What putting it back would undo" open={open} onOpen={setOpen}>
      <PutBackDifference path={path} narrow />
    </Disclosure>
  )
}

function stepOf({ run, node, visit }: ChangedBy): string {
  return links.run(run, { node, ...(visit > 1 && { visit }) })
}
