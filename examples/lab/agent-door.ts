import { Problem } from '@/lib/base/problem'
import { LIVE_MAX_AGE_S, SKEW_S } from '@/lib/ect/checks'
import type { Claims } from '@/lib/ect/claims'
import { decodeJws, TOKEN_TYPES } from '@/lib/ect/jws'
import { verifyTokenSync } from '@/lib/ect/verify-node'
import type { AgentParts } from './agent-server'

/** Who may come in: the console, with a fresh token that is meant for this agent (NOTES 1). */
export class AgentDoor {
  readonly #parts: AgentParts
  readonly #baseUrl: () => string

  constructor(parts: AgentParts, baseUrl: () => string) {
    this.#parts = parts
    this.#baseUrl = baseUrl
  }

  /** The claims of a request's token. Throws Problem `ect_…` (403) when it is missing or does not verify. */
  async verified(token: string | undefined): Promise<Claims> {
    if (token === undefined)
      throw new Problem(
        'ect_malformed',
        'There is no Execution-Context header; a compact token of the console was expected.',
      )
    const { kid } = decodeJws(token, TOKEN_TYPES).header
    const keys = await this.#parts.console.knowing(kid)
    const audience = [this.#parts.agent.id, this.#baseUrl()]
    return verifyTokenSync(token, keys, { mode: 'live', nowMs: this.#parts.now(), audience }).claims
  }

  /** Refuses a token that was used before: Problem `ect_replayed`. */
  async refuseReplay(claims: Claims): Promise<void> {
    const until = (claims.iat + LIVE_MAX_AGE_S + SKEW_S) * 1000
    if (await this.#parts.folder.firstUse(claims.jti, until)) return
    throw new Problem('ect_replayed', `The token ${claims.jti} was used before; send a fresh one.`)
  }
}
