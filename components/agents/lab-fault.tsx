'use client'
import { FlaskConical } from 'lucide-react'
import { Button } from '@/components/ui/button'
import { Menu, MenuChoice } from '@/components/ui/menu'
import { Tag } from '@/components/ui/tag'
import { tell, warnOf } from '@/components/ui/toast'
import { useLab, useMakeFail } from '@/lib/ui/lab-queries'
import { type FaultKind, faultKinds } from '@/lib/view/lab-wire'

const choices = [
  { value: 'none' as const, word: 'Works as it should' },
  ...(Object.keys(faultKinds) as FaultKind[]).map((value) => ({ value, word: faultKinds[value] })),
]

/**
 * "Make it fail…" for an agent of the lab, with what it was made to do now. Nothing where there is no lab, for agents
 * that are none of it, and for who may not.
 */
export function LabFault({ agentId, mayOperate }: { agentId: string; mayOperate: boolean }) {
  const agent = useLab().data?.agents.find(({ id }) => id === agentId)
  const makeFail = useMakeFail(agent?.name ?? '')
  if (!agent) return null
  const kind = agent.fault?.kind ?? 'none'
  const shown = agent.fault && <Tag>Made to fail: {faultKinds[agent.fault.kind]}</Tag>
  if (!mayOperate) return shown ?? null
  const choose = (chosen: FaultKind | 'none') =>
    makeFail.mutate(
      { kind: chosen },
      {
        onSuccess: () =>
          tell(
            chosen === 'none'
              ? `${agent.name} works again`
              : `${agent.name} is made to fail: ${faultKinds[chosen]}`,
          ),
        onError: (error) => warnOf(`${agent.name} was left as it is`, error),
      },
    )
  return (
    <span className="inline-flex flex-wrap items-center gap-2">
      {shown}
      <Menu
        trigger={
          <Button
            busy={makeFail.isPending}
            icon={<FlaskConical size={16} strokeWidth={1.5} aria-hidden="true" />}
          >
            Make it fail…
          </Button>
        }
      >
        <MenuChoice label={`What ${agent.name} does`} value={kind} choices={choices} onChange={choose} />
      </Menu>
    </span>
  )
}
