'use client'
import { useState } from 'react'
import { ActDialog } from '@/components/settings/act-dialog'
import { faultAt } from '@/components/settings/words'
import { Button } from '@/components/ui/button'
import { Field, Input, Textarea } from '@/components/ui/field'
import { tell } from '@/components/ui/toast'
import { type AgentProtocol, agentProtocols } from '@/lib/base/protocols'
import type { PoolLimits } from '@/lib/pool/terms'
import { useLookUpKeys, usePutAgent } from '@/lib/ui/agent-queries'
import { sentenceOf } from '@/lib/ui/api'
import type { AgentKey, AgentRow } from '@/lib/view/agent-wire'
import { keySetIn, keysLeftOut } from './key-set'
import { protocolWords, typedNumber } from './words'

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
  const [more, setMore] = useState<MoreWish>(() => moreOf(agent))
  const good = (agent?.keys ?? []).filter(({ endedAt }) => endedAt === undefined)
  const leftOut = keysLeftOut(good, jwks)

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
      fields={['id', 'name', 'base_url', 'jwks', 'domain', 'role', 'jwks_url', 'limits']}
      width={600}
      act={async () => {
        const wish = { id: id.trim(), name: name.trim(), base_url: baseUrl.trim(), jwks: keySetIn(jwks) }
        await put.mutateAsync({ ...wish, ...moreWished(more), replace: agent !== undefined })
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
          <More wish={more} onChange={setMore} faults={faults} />
        </div>
      )}
    </ActDialog>
  )
}

type LimitName = keyof PoolLimits

/** What may be said besides, as it is typed. */
interface MoreWish {
  domain: string
  role: string
  jwksUrl: string
  protocols: AgentProtocol[]
  limits: Record<LimitName, string>
}

const limitLabels: Record<LimitName, string> = {
  connections: 'Steps at once',
  connectionsPerWorkflow: 'Of one workflow',
  queuePerWorkflow: 'Of it waiting',
  requestsPerMinute: 'Of it a minute',
}
const limitNames = Object.keys(limitLabels) as LimitName[]

function moreOf(agent: AgentRow | undefined): MoreWish {
  const typed = (name: LimitName) => String(agent?.limits[name] ?? '')
  return {
    domain: agent?.domain ?? '',
    role: agent?.role ?? '',
    jwksUrl: agent?.jwksUrl ?? '',
    protocols: agent?.protocols ?? ['holdpoint', 'atd'],
    limits: Object.fromEntries(limitNames.map((name) => [name, typed(name)])) as MoreWish['limits'],
  }
}

/** As it is sent. Throws an ApiProblem at `limits` for what is no number. */
function moreWished({ limits, jwksUrl, ...rest }: MoreWish) {
  const numbers: Partial<PoolLimits> = {}
  for (const name of limitNames) {
    const number = typedNumber(limits[name])
    if (number === undefined) continue
    const least = name === 'queuePerWorkflow' ? 0 : 1
    if (!(number >= least))
      throw faultAt('limits', `${limitLabels[name]} must be a whole number from ${least}.`)
    numbers[name] = number
  }
  return { ...rest, jwks_url: jwksUrl.trim(), limits: numbers }
}

function More({
  wish,
  onChange,
  faults,
}: {
  wish: MoreWish
  onChange: (wish: MoreWish) => void
  faults: Readonly<Record<string, string>>
}) {
  const set = (change: Partial<MoreWish>) => onChange({ ...wish, ...change })
  const turned = (protocol: AgentProtocol) =>
    wish.protocols.includes(protocol)
      ? wish.protocols.filter((one) => one !== protocol)
      : [...wish.protocols, protocol]
  return (
    <>
      <Field
        label="Address of its keys"
        optional
        help="When a token names a key that is not known, they are fetched from here again."
        error={faults.jwks_url}
      >
        {(ids) => (
          <Input
            {...ids}
            type="url"
            className="mono"
            maxLength={500}
            value={wish.jwksUrl}
            onChange={(event) => set({ jwksUrl: event.target.value })}
          />
        )}
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label="Domain"
          optional
          help="Agents of the same one see its breakers. Without one, the first part of its id counts."
          error={faults.domain}
        >
          {(ids) => (
            <Input
              {...ids}
              maxLength={120}
              value={wish.domain}
              onChange={(event) => set({ domain: event.target.value })}
            />
          )}
        </Field>
        <Field label="Role" optional error={faults.role}>
          {(ids) => (
            <Input
              {...ids}
              maxLength={80}
              value={wish.role}
              onChange={(event) => set({ role: event.target.value })}
            />
          )}
        </Field>
      </div>
      <fieldset className="flex flex-col gap-1">
        <legend className="mb-1 text-t1 text-ink-2">Speaks</legend>
        {agentProtocols.map((protocol) => (
          <label key={protocol} className="flex items-center gap-2 max-md:min-h-12">
            <input
              type="checkbox"
              checked={wish.protocols.includes(protocol)}
              disabled={wish.protocols.length === 1 && wish.protocols.includes(protocol)}
              onChange={() => set({ protocols: turned(protocol) })}
            />
            <span>
              {protocol} <span className="text-ink-3">{protocolWords[protocol]}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <fieldset className="flex flex-col gap-1">
        <legend className="mb-1 text-t1 text-ink-2">
          Limits <span className="text-ink-3">(empty: the usual)</span>
        </legend>
        <div className="grid grid-cols-2 gap-2 sm:grid-cols-4">
          {limitNames.map((name) => (
            <Field key={name} label={limitLabels[name]}>
              {(ids) => (
                <Input
                  {...ids}
                  inputMode="numeric"
                  className="num"
                  value={wish.limits[name]}
                  onChange={(event) => set({ limits: { ...wish.limits, [name]: event.target.value } })}
                />
              )}
            </Field>
          ))}
        </div>
        {faults.limits && (
          <p role="alert" className="text-t1 text-failed-ink">
            {faults.limits}
          </p>
        )}
      </fieldset>
    </>
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
