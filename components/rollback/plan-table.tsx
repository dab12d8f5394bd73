import { CopyId } from '@/components/ui/copy-id'
import { Table, TableScroll, Td, Th } from '@/components/ui/table'
import { beginsRuns } from '@/lib/view/child-kinds'
import { agentName } from '@/lib/view/frame'
import type { PlanStep, RollbackPlanView } from '@/lib/view/wire'
import { fates } from './fates'
import { planKey, planName } from './plan-words'

/** The plan's steps in the order they are undone, with the evidence: the state as it is now, and as it was sealed. */
export function PlanTable({
  plan,
  kindOf,
}: {
  plan: RollbackPlanView
  kindOf: (node: string) => string | undefined
}) {
  const steps = plan.steps.filter(({ fate }) => fate !== 'untouched' && fate !== 'locked' && fate !== 'reset')
  if (steps.length === 0) return null
  return (
    <section
      aria-label="Steps in the order they are undone"
      className="shrink-0 border-t bg-surface max-md:hidden"
    >
      <TableScroll className="max-h-56" tabIndex={0}>
        <Table>
          <thead>
            <tr>
              <Th>Turn</Th>
              <Th>Step</Th>
              <Th>Agent</Th>
              <Th>Asked to</Th>
              <Th>State now</Th>
              <Th>Sealed state</Th>
              <Th>Check</Th>
            </tr>
          </thead>
          <tbody>
            {steps.map((step, at) => (
              <tr key={planKey(step)}>
                <Td className="num text-ink-3">{at + 1}</Td>
                <Td>{planName(step, plan)}</Td>
                <Td className="mono text-ink-2">
                  {step.agent ? agentName(step.agent) : 'this installation'}
                </Td>
                <Td
                  className={step.fate === 'irreversible' || step.fate === 'refused' ? 'text-failed-ink' : ''}
                >
                  {step.fate === 'restored' && beginsRuns(kindOf(step.node) ?? '')
                    ? 'roll back its runs'
                    : fates[step.fate].asked}
                </Td>
                <Td>
                  {step.stateHashNow ? <CopyId id={step.stateHashNow} what="state hash" /> : <Unknown />}
                </Td>
                <Td>{step.sealedHash ? <CopyId id={step.sealedHash} what="sealed hash" /> : <Unknown />}</Td>
                <Td className="text-ink-2">
                  {step.fate === 'restored' && beginsRuns(kindOf(step.node) ?? '')
                    ? 'each run plans its own'
                    : checkOf(step)}
                </Td>
              </tr>
            ))}
          </tbody>
        </Table>
      </TableScroll>
    </section>
  )
}

function Unknown() {
  return <span className="mono text-ink-3">none</span>
}

/** What comes of the two hashes. That they differ is the step's own doing, and the reason to take it back. */
function checkOf(step: PlanStep): string {
  if (step.fate === 'irreversible') return 'a person is told'
  if (step.fate === 'refused') return 'the checkpoint does not serve'
  if (!step.sealedHash) return 'a new action'
  if (!step.stateHashNow) return 'is looked at when it is its turn'
  return step.sealedHash === step.stateHashNow ? 'already as before' : 'will change back'
}
