'use client'
import { RelativeTime } from '@/components/ui/relative-time'
import { shortId } from '@/lib/ui/short-id'
import type { ForkPlanView } from '@/lib/view/fork-wire'
import { RadioRow, RadioRows } from './radio-rows'

/** The version the fork is pinned to: the original's, or a newer one that leads the same way so far. */
export function VersionChoice({
  plan,
  asked,
  onChoose,
}: {
  plan: ForkPlanView
  /** The one that is asked for, which the plan may not be of yet; absent: the original's own. */
  asked: string | undefined
  /** Nothing: the original's own. */
  onChoose: (version: string | undefined) => void
}) {
  if (plan.versions.length < 2) return null
  return (
    <RadioRows legend="Version of the workflow">
      {plan.versions.map(({ version, importedAt, original, refusal }) => (
        <RadioRow
          key={version}
          name="version"
          title={
            <>
              <span className="mono">{shortId(version)}</span>
              {original && ', the one it ran with'}
            </>
          }
          about={
            refusal ?? (
              <>
                imported <RelativeTime at={importedAt} />
              </>
            )
          }
          chosen={asked === undefined ? original : version === asked}
          refused={refusal !== undefined}
          onChoose={() => onChoose(original ? undefined : version)}
        />
      ))}
    </RadioRows>
  )
}
