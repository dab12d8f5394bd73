'use client'
import { useState } from 'react'
import { ActDialog } from '@/components/settings/act-dialog'
import { Button } from '@/components/ui/button'
import { Dialog } from '@/components/ui/dialog'
import { HoldButton } from '@/components/ui/hold-button'
import { tell } from '@/components/ui/toast'
import { useRemoveAgent, useRevokeKey, useRotateKeys } from '@/lib/ui/agent-queries'
import { sentenceOf } from '@/lib/ui/api'
import type { AgentRow } from '@/lib/view/agent-wire'

interface About {
  agent: AgentRow
  onClose: () => void
}

export function RemoveAgent({ agent, onClose }: About) {
  const remove = useRemoveAgent()
  return (
    <ActDialog
      title={`Remove ${agent.name}`}
      description={<span className="mono [overflow-wrap:anywhere]">{agent.id}</span>}
      button={`Remove ${agent.name}`}
      danger
      act={async () => {
        await remove.mutateAsync(agent.id)
        tell(`${agent.name} is removed`)
      }}
      onClose={onClose}
    >
      {() => (
        <p>
          Its requests are refused from now on, and steps that call it fail, those that would roll back too.
          What it signed before goes on verifying. It can be added again under the same id.
        </p>
      )}
    </ActDialog>
  )
}

/** Fetching keys can end some: those that the agent publishes no more. */
export function RotateKeys({ agent, onClose }: About) {
  const rotate = useRotateKeys()
  return (
    <ActDialog
      title={`Fetch the keys of ${agent.name}`}
      description={<span className="mono [overflow-wrap:anywhere]">{agent.jwksUrl}</span>}
      button={`Fetch the keys of ${agent.name}`}
      act={async () => {
        const good = (row: AgentRow) => row.keys.filter(({ endedAt }) => endedAt === undefined).length
        const row = await rotate.mutateAsync(agent.id)
        tell(`${agent.name} signs with ${good(row)} ${good(row) === 1 ? 'key' : 'keys'}`)
      }}
      onClose={onClose}
    >
      {() => (
        <p>
          It is believed from then on when it signs with a key it publishes there. Keys that are there no more
          sign nothing new.
        </p>
      )}
    </ActDialog>
  )
}

/** Revoking cannot be undone, so its button is held. */
export function RevokeKey({ agent, kid, onClose }: About & { kid: string }) {
  const revoke = useRevokeKey()
  const [fault, setFault] = useState<string>()
  const isLast = agent.keys.every((key) => key.kid === kid || key.endedAt !== undefined)
  async function act() {
    setFault(undefined)
    try {
      await revoke.mutateAsync({ id: agent.id, kid })
      tell(`${kid} of ${agent.name} is revoked`)
      onClose()
    } catch (error) {
      setFault(sentenceOf(error))
    }
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Revoke a key of ${agent.name}`}
      description={<span className="mono [overflow-wrap:anywhere]">{kid}</span>}
      actions={
        <>
          <HoldButton onHeld={() => void act()} busy={revoke.isPending} wraps about={`Revoke ${kid}`}>
            Revoke this key
          </HoldButton>
          <Button onClick={onClose}>Leave it</Button>
        </>
      }
    >
      <p>
        What is signed with it is refused from now on, for good: the key cannot be taken back into use. What
        it signed before goes on verifying.
        {isLast &&
          ` It is the only key of ${agent.name}, which will be believed nothing until it has another.`}
      </p>
      {fault && (
        <p role="alert" className="mt-2 text-failed-ink">
          {fault}
        </p>
      )}
    </Dialog>
  )
}
