/* The checkpoint that an agent keeps, as it is sealed here: its id, the hash of the agent's state, and where to roll back. */
import { z } from 'zod'
import { spiffeId } from '@/lib/nodes/agent'
import { type Registered, spoken } from './agent-request'
import { refusal } from './resolved'
import type { Snapshot } from './runner'
import { oneLine } from './words'

const rollbackPath = '/.well-known/atd/rollback'

export const sealedCheckpoint = z.strictObject({
  agent: spiffeId,
  checkpoint_id: z.string(),
  out_hash: z.string(),
  rollback_uri: z.string(),
})

export function sealed(snapshot: Snapshot): z.infer<typeof sealedCheckpoint> {
  const parsed = sealedCheckpoint.safeParse(snapshot.state)
  if (parsed.success) return parsed.data
  throw refusal(
    'checkpoint_tampered',
    'The checkpoint does not name an agent’s own checkpoint; it cannot be used.',
  )
}

/** The agent's rollback address. Refused unless it is the well-known path under the registered address. */
export function rollbackUrl(agent: Registered, uri: string): string {
  const expected = `${agent.baseUrl.replace(/\/+$/, '')}${rollbackPath}`
  if (URL.canParse(uri) && new URL(uri).href === new URL(expected).href) return expected
  throw refusal(
    'url_refused',
    `${spoken(agent)} names a rollback address other than its registered one; expected ${oneLine(expected, 200)}.`,
  )
}
