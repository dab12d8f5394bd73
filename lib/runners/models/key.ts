import type { Backend } from '@/lib/workflow/graph'
import { type BackendSurroundings, misconfigured } from './backend'

// The installation's own keys open its ledger and its sessions: no workflow's backend is sent one.
const ownVariable = /^(HOLDPOINT_|NEXTAUTH_)/

/**
 * The key a backend is called with: the secret of that name, else the environment variable. Undefined when the
 * definition names none. Throws EffectFailed `backend_misconfigured` when what it names is not there.
 */
export async function keyOf(
  backend: Pick<Backend, 'name' | 'apiKeyEnv'>,
  { env, secret }: Pick<BackendSurroundings, 'env' | 'secret'>,
): Promise<string | undefined> {
  const { name, apiKeyEnv } = backend
  if (!apiKeyEnv) return undefined
  if (ownVariable.test(apiKeyEnv)) {
    throw misconfigured(name, `may not take ${apiKeyEnv} as its key; it belongs to the installation itself.`)
  }
  const key = (await secret(apiKeyEnv)) ?? env(apiKeyEnv)
  if (key?.trim()) return key.trim()
  throw misconfigured(
    name,
    `takes its key from ${apiKeyEnv}, which is unset or empty; set the variable or declare the secret.`,
  )
}
