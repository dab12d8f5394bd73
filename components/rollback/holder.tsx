import { RunName } from '@/components/run/run-name'
import { Sub } from '@/components/ui/facts'
import type { RunsBelow } from '@/lib/rollback/terms'
import { count } from '@/lib/ui/format-time'
import type { AgentPart } from '@/lib/view/agent-parts'
import { agentName } from '@/lib/view/plain-words'
import { holderName } from './vote-words'

/** Who holds a part of a rollback: an agent, this installation, or the runs that a step began. */
export function Holder({ part }: { part: Pick<AgentPart, 'agent' | 'runs'> }) {
  return part.runs ? (
    <RunsHeld below={part.runs} />
  ) : (
    <span className="mono" title={part.agent}>
      {holderName(part)}
    </span>
  )
}

/** The first of the runs that a step began, how many more there are, and the agents in them. */
export function RunsHeld({ below: { count: all, first } }: { below: RunsBelow }) {
  const [run] = first
  if (!run) return count(all, 'run below', 'runs below')
  const agents = [...new Set(first.flatMap((one) => one.agents))]
  return (
    <>
      <RunName {...run} />
      {all > 1 && ` and ${all - 1} more`}
      {agents.length > 0 && (
        <>
          {' '}
          <Sub>
            by{' '}
            <span className="mono" title={agents.join(', ')}>
              {agents.map(agentName).join(', ')}
            </span>
          </Sub>
        </>
      )}
    </>
  )
}
