'use client'
import { type ReactNode, useState } from 'react'
import { ActDialog } from '@/components/settings/act-dialog'
import { faultAt } from '@/components/settings/words'
import { Field, Input } from '@/components/ui/field'
import { tell } from '@/components/ui/toast'
import { usePutPool } from '@/lib/ui/pool-queries'
import type { AgentPoolWish, HerePoolWish, PoolRow } from '@/lib/view/pool-wire'
import { type NumberBound, numberFault, numberIn, poolName } from './words'

interface Part extends NumberBound {
  name: string
  label: string
  help: ReactNode
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
          ...{ min: 1, max: 10_000, whole: true },
        },
        {
          name: 'connections_per_workflow',
          label: 'Places of one workflow',
          help: 'So that one that runs wild leaves room for the others.',
          ...{ min: 1, max: 10_000, whole: true },
        },
        {
          name: 'queue_per_workflow',
          label: 'Queue of one workflow',
          help: 'Steps that may wait; one more fails at once and is tried again.',
          ...{ min: 0, max: 100_000, whole: true },
        },
        {
          name: 'requests_per_minute',
          label: 'Steps a minute, of one workflow',
          help: 'Empty: any number.',
          ...{ min: 1, max: 1_000_000, whole: true, optional: true },
        },
      ]}
      first={{
        connections,
        connections_per_workflow: connectionsPerWorkflow,
        queue_per_workflow: queuePerWorkflow,
        requests_per_minute: requestsPerMinute,
      }}
      judge={({ connections: all = 0, connections_per_workflow: each = 0 }) =>
        each > all
          ? { connections_per_workflow: `One workflow cannot have more places than there are: ${all}.` }
          : {}
      }
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
        {
          name: 'cpu',
          label: 'Processors',
          help: 'Half of one is 0.5.',
          ...{ min: 0.1, max: 100_000, optional: true },
        },
        {
          name: 'memory_mb',
          label: 'Memory, in MB',
          help: 'Of all steps together.',
          ...{ min: 1, max: 100_000_000, optional: true },
        },
        { name: 'gpu', label: 'GPUs', help: 'Empty: none.', ...{ min: 0, max: 1_000, optional: true } },
        {
          name: 'starve_after_s',
          label: 'Longest wait, in seconds',
          help: 'Of all pools: after it a step competes with whatever comes, whatever its priority. 300 unless said otherwise.',
          ...{ min: 1, max: 86_400, whole: true, optional: true },
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

function faultsIn(parts: readonly Part[], texts: Readonly<Record<string, string>>): Faults {
  return Object.fromEntries(
    parts.flatMap((part) => {
      const fault = numberFault(texts[part.name] ?? '', part)
      return fault === undefined ? [] : [[part.name, fault]]
    }),
  )
}

/** What is wrong, by the names of the parts. */
type Faults = Readonly<Partial<Record<string, string>>>

type Numbers = Record<string, number | undefined>

function NumbersDialog({
  title,
  description,
  button,
  parts,
  first,
  judge,
  act,
  onClose,
}: {
  title: string
  description: string
  button: string
  parts: Part[]
  first: Numbers
  /** What is wrong with numbers that are each well by themselves, by their names. */
  judge?: (numbers: Numbers) => Faults
  act: (numbers: Numbers) => Promise<void>
  onClose: () => void
}) {
  const [texts, setTexts] = useState<Record<string, string>>(() =>
    Object.fromEntries(parts.map(({ name }) => [name, first[name]?.toString() ?? ''])),
  )
  // Said once somebody means it, and from then on as it is mended.
  const [meant, setMeant] = useState(false)
  const numbers = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, numberIn(text)]))
  const own = faultsIn(parts, texts)
  const wrong: Faults = Object.keys(own).length > 0 ? own : (judge?.(numbers) ?? {})
  async function send() {
    setMeant(true)
    const [first] = Object.entries(wrong)
    if (first) throw faultAt(first[0], first[1] ?? '')
    await act(numbers)
  }
  return (
    <ActDialog
      title={title}
      description={description}
      button={button}
      fields={parts.map(({ name }) => name)}
      act={send}
      onClose={onClose}
    >
      {(faults) => (
        <div className="grid grid-cols-2 gap-4 max-md:grid-cols-1">
          {parts.map(({ name, label, help, optional = false }, at) => (
            <Field
              key={name}
              label={label}
              help={help}
              error={meant ? (wrong[name] ?? faults[name]) : undefined}
              optional={optional}
            >
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
