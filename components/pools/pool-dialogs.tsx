'use client'
import { type ReactNode, useState } from 'react'
import { ActDialog } from '@/components/settings/act-dialog'
import { Field, Input } from '@/components/ui/field'
import { tell } from '@/components/ui/toast'
import { usePutPool } from '@/lib/ui/pool-queries'
import type { AgentPoolWish, HerePoolWish, PoolRow } from '@/lib/view/pool-wire'
import { numberIn, poolName } from './words'

interface Part {
  name: string
  label: string
  help: ReactNode
  optional?: boolean
}

/** Changes how many of an agent's places there are, and how many one workflow may have. */
export function AgentPoolDialog({ pool, onClose }: { pool: PoolRow; onClose: () => void }) {
  const put = usePutPool(pool.name)
  const { connections, connectionsPerWorkflow, queuePerWorkflow, requestsPerMinute } = pool.limits
  const name = poolName(pool)
  return (
    <NumbersDialog
      title={`Bounds of ${name}`}
      description="They hold within a second. What is at work there goes on."
      button={`Change the bounds of ${name}`}
      parts={[
        {
          name: 'connections',
          label: 'Places',
          help: 'Steps at work there at once, all workflows together.',
        },
        {
          name: 'connections_per_workflow',
          label: 'Places of one workflow',
          help: 'So that one that runs wild leaves room for the others.',
        },
        {
          name: 'queue_per_workflow',
          label: 'Queue of one workflow',
          help: 'Steps that may wait; one more fails at once and is tried again.',
        },
        {
          name: 'requests_per_minute',
          label: 'Steps a minute, of one workflow',
          help: 'Empty: any number.',
          optional: true,
        },
      ]}
      first={{
        connections,
        connections_per_workflow: connectionsPerWorkflow,
        queue_per_workflow: queuePerWorkflow,
        requests_per_minute: requestsPerMinute,
      }}
      act={async (numbers) => {
        await put.mutateAsync(numbers as unknown as AgentPoolWish)
        tell(`The bounds of ${name} are changed`)
      }}
      onClose={onClose}
    />
  )
}

/** Changes what this machine hands out to steps that name resources, and how long anybody waits at most. */
export function HerePoolDialog({
  pool,
  starveAfterS,
  onClose,
}: {
  pool: PoolRow
  starveAfterS: number
  onClose: () => void
}) {
  const put = usePutPool('here')
  return (
    <NumbersDialog
      title="Bounds of this machine"
      description="Handed out to steps that say in resource_hints what they need. Empty: what the machine has."
      button="Change the bounds of this machine"
      parts={[
        { name: 'cpu', label: 'Processors', help: 'Half of one is 0.5.', optional: true },
        { name: 'memory_mb', label: 'Memory, in MB', help: 'Of all steps together.', optional: true },
        { name: 'gpu', label: 'GPUs', help: 'Empty: none.', optional: true },
        {
          name: 'starve_after_s',
          label: 'Longest wait, in seconds',
          help: 'Of all pools: after it a step competes with whatever comes, whatever its priority. 300 unless said otherwise.',
          optional: true,
        },
      ]}
      first={{
        cpu: pool.capacity?.cpu,
        memory_mb: pool.capacity?.memoryMb,
        gpu: pool.capacity?.gpu || undefined,
        starve_after_s: starveAfterS,
      }}
      act={async (numbers) => {
        await put.mutateAsync(numbers as HerePoolWish)
        tell('The bounds of this machine are changed')
      }}
      onClose={onClose}
    />
  )
}

type Numbers = Record<string, number | undefined>

function NumbersDialog({
  title,
  description,
  button,
  parts,
  first,
  act,
  onClose,
}: {
  title: string
  description: string
  button: string
  parts: Part[]
  first: Numbers
  act: (numbers: Numbers) => Promise<void>
  onClose: () => void
}) {
  const [texts, setTexts] = useState<Record<string, string>>(() =>
    Object.fromEntries(parts.map(({ name }) => [name, first[name]?.toString() ?? ''])),
  )
  return (
    <ActDialog
      title={title}
      description={description}
      button={button}
      fields={parts.map(({ name }) => name)}
      act={() => act(Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, numberIn(text)])))}
      onClose={onClose}
    >
      {(faults) => (
        <div className="grid grid-cols-2 gap-4 max-md:grid-cols-1">
          {parts.map(({ name, label, help, optional = false }, at) => (
            <Field key={name} label={label} help={help} error={faults[name]} optional={optional}>
              {(ids) => (
                <Input
                  {...ids}
                  autoFocus={at === 0}
                  autoComplete="off"
                  inputMode="decimal"
                  className="num"
                  maxLength={12}
                  value={texts[name] ?? ''}
                  onChange={(event) => setTexts({ ...texts, [name]: event.target.value })}
                />
              )}
            </Field>
          ))}
        </div>
      )}
    </ActDialog>
  )
}
