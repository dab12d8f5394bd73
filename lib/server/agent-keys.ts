/*
 * Asking an agent for its public keys, so that an administrator need not paste them. What comes back is only looked at:
 * nothing is registered before a person has compared the thumbprints. The address is the administrator's own choice, so
 * a private one is fine, and only that one; redirects are not followed, and what answers in another form is not repeated.
 */
import { agentKeySet } from '@/lib/auth/agents'
import { Problem } from '@/lib/base/problem'
import type { Jwks } from '@/lib/ect/keys'
import { EffectFailed } from '@/lib/runners/runner'
import { type HttpAnswer, judgedTarget, send } from '@/lib/runners/send'
import { parseJson } from './http/body'

const keysPath = '/.well-known/jwks.json'
const answersWithinMs = 5_000

/**
 * The keys an agent publishes under its address. Throws Problem `bad_request` (the address, or a set that cannot be
 * used), `effect_failed`, `effect_timeout`.
 */
export async function publishedKeys(baseUrl: string): Promise<Jwks> {
  const url = `${baseUrl.replace(/\/+$/, '')}${keysPath}`
  const answer = await ask(url)
  if (answer.status !== 200) {
    throw new Problem(
      'effect_failed',
      `The agent answered ${keysPath} with ${answer.status}, and 200 was expected; check its address, or paste its keys.`,
    )
  }
  return agentKeySet(keySetIn(answer.body))
}

async function ask(url: string): Promise<HttpAnswer> {
  if (!URL.canParse(url)) {
    throw new Problem('bad_request', "The agent's address is no URL; write it as http://127.0.0.1:7007.", {
      field: 'base_url',
    })
  }
  const { hostname, port, protocol } = new URL(url)
  const privateTargets = [`${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`]
  try {
    return await send({
      method: 'GET',
      target: judgedTarget(url, privateTargets),
      headers: { accept: 'application/jwk-set+json, application/json', 'user-agent': 'Holdpoint' },
      privateTargets,
      signal: AbortSignal.timeout(answersWithinMs),
    })
  } catch (error) {
    if (!(error instanceof EffectFailed)) throw error
    const code = error.errorType === 'timeout' ? 'effect_timeout' : 'effect_failed'
    throw new Problem(code, `The agent's keys could not be read. ${error.message}`)
  }
}

function keySetIn(body: Uint8Array): unknown {
  try {
    return parseJson(body)
  } catch {
    throw new Problem(
      'effect_failed',
      `What the agent publishes at ${keysPath} is not JSON; a JWK set was expected. Paste its keys instead.`,
    )
  }
}
