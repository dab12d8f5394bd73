'use client'
import { useState } from 'react'
import { Button } from '@/components/ui/button'
import { Field, Input, Textarea } from '@/components/ui/field'
import { tell } from '@/components/ui/toast'
import { sentenceOf } from '@/lib/ui/api'
import { useLookUpKeys, usePutAgent } from '@/lib/ui/settings-queries'
import type { AgentKey, AgentRow } from '@/lib/view/agent-wire'
import { ActDialog } from './act-dialog'
import { keySetIn, keysLeftOut } from './key-set'

const pretty = (value: unknown) => JSON.stringify(value, null, 2)

/** Registers an agent, or changes one. Keys are pasted, or asked for by the server and shown before anything is kept. */
export function AgentDialog({ agent, onClose }: { agent: AgentRow | undefined; onClose: () => void }) {
  const put = usePutAgent()
  const lookUp = useLookUpKeys()
  const [id, setId] = useState(agent?.id ?? 'spiffe://')
  const [name, setName] = useState(agent?.name ?? '')
  const [baseUrl, setBaseUrl] = useState(agent?.baseUrl ?? '')
  const [jwks, setJwks] = useState(agent ? pretty(JSON.parse(agent.jwks)) : '')
  const [found, setFound] = useState<AgentKey[]>([])
  const leftOut = keysLeftOut(agent?.keys ?? [], jwks)

  async function askAgent() {
    setFound([])
    try {
      const published = await lookUp.mutateAsync(baseUrl.trim())
      setJwks(pretty(published.jwks))
      setFound(published.keys)
    } catch {
      // The sentence stands under the field.
    }
  }

  const plain = { autoComplete: 'off', autoCapitalize: 'none', spellCheck: false }
  return (
    <ActDialog
      title={agent ? `Change ${agent.name}` : 'Add an agent'}
      description="It is called at its address, and believed when a request is signed with one of its keys."
      button={agent ? `Change ${agent.name}` : name.trim() ? `Add ${name.trim()}` : 'Add the agent'}
      fields={['id', 'name', 'base_url', 'jwks']}
      width={600}
      act={async () => {
        const wish = { id: id.trim(), name: name.trim(), base_url: baseUrl.trim(), jwks: keySetIn(jwks) }
        await put.mutateAsync({ ...wish, replace: agent !== undefined })
        tell(agent ? `${wish.name} is changed` : `${wish.name} is registered`)
      }}
      onClose={onClose}
    >
      {(faults) => (
        <div className="flex flex-col gap-4">
          <Field label="Name" error={faults.name}>
            {(ids) => (
              <Input
                {...ids}
                autoFocus
                maxLength={80}
                autoComplete="off"
                value={name}
                onChange={(event) => setName(event.target.value)}
              />
            )}
          </Field>
          <Field
            label="SPIFFE id"
            help={
              agent
                ? 'It is in ledgers, so it stays.'
                : 'As the agent signs it and workflows name it: spiffe://example.com/agent/router.'
            }
            error={faults.id}
          >
            {(ids) => (
              <Input
                {...ids}
                {...plain}
                className="mono"
                disabled={agent !== undefined}
                value={id}
                onChange={(event) => setId(event.target.value)}
              />
            )}
          </Field>
          <Field
            label="Address"
            help="Where this server calls it, such as http://127.0.0.1:7007. A private address is fine."
            error={faults.base_url}
          >
            {(ids) => (
              <Input
                {...ids}
                {...plain}
                type="url"
                className="mono"
                maxLength={500}
                value={baseUrl}
                onChange={(event) => setBaseUrl(event.target.value)}
              />
            )}
          </Field>
          <div className="flex flex-col gap-2">
            <Field
              label="Public keys, a JWK set"
              error={faults.jwks ?? (lookUp.error ? sentenceOf(lookUp.error) : undefined)}
            >
              {(ids) => (
                <Textarea
                  {...ids}
                  rows={6}
                  spellCheck={false}
                  className="mono leading-5"
                  placeholder={'{"keys": [{"kty": "EC", "crv": "P-256", "kid": …}]}'}
                  value={jwks}
                  onChange={(event) => {
                    setJwks(event.target.value)
                    setFound([])
                    lookUp.reset()
                  }}
                />
              )}
            </Field>
            <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <Button
                size="sm"
                busy={lookUp.isPending}
                disabled={baseUrl.trim() === ''}
                onClick={() => void askAgent()}
              >
                {lookUp.isPending ? 'Asking the agent…' : 'Ask the agent for its keys'}
              </Button>
              <span className="text-t1 text-ink-3">Reads /.well-known/jwks.json under the address.</span>
            </span>
            <div aria-live="polite">{found.length > 0 && <Thumbprints keys={found} />}</div>
            {leftOut.length > 0 && (
              <p className="text-failed-ink">
                {leftOut.map(({ kid }) => kid).join(', ')} {leftOut.length === 1 ? 'goes' : 'go'} away: what
                is signed with {leftOut.length === 1 ? 'it' : 'them'} is refused from then on.
              </p>
            )}
          </div>
        </div>
      )}
    </ActDialog>
  )
}

/** What was found, for two people to compare over the telephone. */
function Thumbprints({ keys }: { keys: AgentKey[] }) {
  return (
    <div className="rounded-r2 border bg-well px-3 py-2">
      <p className="text-ink-2">
        Found. Compare {keys.length === 1 ? 'the thumbprint' : 'each thumbprint'} with the agent’s owner:
        whoever answers at this address has given it.
      </p>
      <dl className="mt-2 flex flex-col gap-1">
        {keys.map(({ kid, alg, thumbprint }) => (
          <div key={kid}>
            <dt className="mono text-ink-3 [overflow-wrap:anywhere]">
              {kid} · {alg}
            </dt>
            <dd className="mono [overflow-wrap:anywhere]">{thumbprint}</dd>
          </div>
        ))}
      </dl>
    </div>
  )
}
