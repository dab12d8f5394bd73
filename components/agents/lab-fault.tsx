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
 * For an agent of the lab: what it was made to do wrong, "Set it right", and a menu of what can go wrong. Nothing where
 * there is no lab, for agents that are none of it, and for who may not.
 */
export function LabFault({ agentId, mayOperate }: { agentId: string; mayOperate: boolean }) {
  const agent = useLab().data?.agents.find(({ id }) => id === agentId)
  const { make, isPending } = useFault(agent?.name ?? '')
  if (!agent) return null
  const { fault } = agent
  const shown = fault && <Tag>Made to fail: {faultKinds[fault.kind]}</Tag>
  if (!mayOperate) return shown ?? null
  return (
    <span className="inline-flex flex-wrap items-center gap-2">
      {shown && <span className="max-md:basis-full">{shown}</span>}
      {fault && <SetRight name={agent.name} />}
      <Menu
        trigger={
          <Button busy={isPending} icon={<FlaskConical size={16} strokeWidth={1.5} aria-hidden="true" />}>
            {fault ? 'Fail another way…' : 'Make it fail…'}
          </Button>
        }
      >
        <MenuChoice
          label={`Make ${agent.name} fail, or set it right`}
          value={fault?.kind ?? 'none'}
          choices={choices}
          onChange={make}
        />
      </Menu>
    </span>
  )
}

/** Ends what an agent of the lab was made to do wrong: one press, wherever that shows. */
export function SetRight({ name, brief = false }: { name: string; brief?: boolean }) {
  const { make, isPending } = useFault(name)
  return (
    <Button
      size={brief ? 'sm' : 'md'}
      busy={isPending}
      aria-label={brief ? `Set it right: ${name}` : undefined}
      onClick={() => make('none')}
    >
      Set it right
    </Button>
  )
}

function useFault(name: string) {
  const { mutate, isPending } = useMakeFail(name)
  const make = (chosen: FaultKind | 'none') =>
    mutate(
      { kind: chosen },
      {
        onSuccess: () =>
          tell(chosen === 'none' ? `${name} works again` : `${name} is made to fail: ${faultKinds[chosen]}`),
        onError: (error) => warnOf(`${name} was left as it is`, error),
      },
    )
  return { make, isPending }
}
