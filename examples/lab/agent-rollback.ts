import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { hashJson } from '@/lib/base/hash'
import type { JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import { LIVE_TTL_S } from '@/lib/ect/checks'
import { type Claims, isUuid } from '@/lib/ect/claims'
import { signClaims } from '@/lib/ect/sign'
import { claimName, meaningOf, spell } from '@/lib/ect/vocabulary'
import type { RollbackStatus } from '@/lib/rollback/terms'
import type { AgentDoor } from './agent-door'
import type { StoredCheckpoint } from './agent-folder'
import type { AgentParts } from './agent-server'
import type { Answer } from './lab-agent'

const rollbackRequest = z.object({
  rollback_id: z.string().min(1).max(200),
  checkpoint_id: z.string().refine(isUuid, 'a UUID in lower case was expected'),
  reason: z.string().max(2_000).optional(),
  cascade: z.boolean().optional(),
  scope: z.string().max(40).optional(),
})

type RollbackRequest = z.infer<typeof rollbackRequest>

/** Takes a checkpoint back: verified before, restored byte for byte, verified after, answered with a signed token. */
export class AgentRollback {
  readonly #parts: AgentParts
  readonly #door: AgentDoor

  constructor(parts: AgentParts, door: AgentDoor) {
    this.#parts = parts
    this.#door = door
  }

  async answer(token: string | undefined, body: unknown): Promise<Answer> {
    const { folder, log, agent } = this.#parts
    const claims = await this.#door.verified(token)
    const asked = parseRequest(body)
    const key = `rollback ${claims.jti} ${asked.checkpoint_id}`
    const earlier = await folder.answer(key)
    if (earlier) return { status: earlier.status, body: earlier.body }
    const checkpoint = await this.#checkpoint(claims, asked)
    const done = checkpoint.reversible
      ? await this.#restore(checkpoint)
      : await this.#unrestored(checkpoint, 'escalated')
    const answer = { status: 200, body: this.#result(claims, asked, done) }
    await folder.keepAnswer(key, { request: hashJson({ ...asked }), ...answer })
    log(
      `${agent.name} answered the rollback of step ${JSON.stringify(checkpoint.node)} of ${checkpoint.run}: ${done.status}`,
    )
    return answer
  }

  /** The checkpoint, if this token may ask for it back. Throws Problem. */
  async #checkpoint(claims: Claims, asked: RollbackRequest): Promise<StoredCheckpoint> {
    if (meaningOf(claims.exec_act) !== 'rollback_request')
      throw new Problem('ect_claim_invalid', `A token for "${claims.exec_act}" does not ask for a rollback.`)
    const kept = await this.#parts.folder.checkpoint(asked.checkpoint_id)
    if (!kept)
      throw new Problem(
        'checkpoint_missing',
        `${this.#parts.agent.name} has no checkpoint ${asked.checkpoint_id}.`,
      )
    if (kept.wid !== claims.wid || kept.iss !== claims.iss)
      throw new Problem('rollback_outside_run', 'The checkpoint belongs to another run than the token.')
    if (!claims.par.includes(asked.checkpoint_id))
      throw new Problem('rollback_outside_run', 'The token does not name this checkpoint among its parents.')
    if (kept.expires_at <= this.#parts.now())
      throw new Problem('checkpoint_expired', `The time of the checkpoint ${asked.checkpoint_id} has passed.`)
    return kept
  }

  async #restore(checkpoint: StoredCheckpoint) {
    const { folder } = this.#parts
    const state = folder.openCheckpoint(checkpoint)
    const file = typeof state.file === 'string' ? state.file : undefined
    const before = hashJson(await folder.stateOf(file))
    await folder.restore(state)
    const after = hashJson(await folder.stateOf(file))
    const status: RollbackStatus = after === checkpoint.out_hash ? 'completed' : 'failed'
    return { status, before, after }
  }

  /** What cannot be undone is left alone, and a person is to know. */
  async #unrestored(checkpoint: StoredCheckpoint, status: RollbackStatus) {
    const { folder, agent } = this.#parts
    const file = agent.operations[checkpoint.operation]?.file
    const now = hashJson(await folder.stateOf(file))
    return { status, before: now, after: now }
  }

  #result(
    claims: Claims,
    asked: RollbackRequest,
    done: { status: RollbackStatus; before: string; after: string },
  ): JsonObject {
    const { keys, agent, now } = this.#parts
    const vocabulary = claims.exec_act === spell('rollback_request', 'cascade') ? 'cascade' : 'atd'
    const iat = Math.floor(now() / 1000)
    const result = signClaims(
      {
        iss: agent.id,
        aud: claims.iss,
        iat,
        exp: iat + LIVE_TTL_S,
        jti: randomUUID(),
        wid: claims.wid,
        exec_act: spell('rollback_result', vocabulary),
        par: [claims.jti],
        out_hash: done.after,
        ext: {
          [claimName('status', vocabulary)]: done.status,
          [claimName('checkpoint_id', vocabulary)]: asked.checkpoint_id,
          [claimName('cascaded', vocabulary)]: [],
          [claimName('state_hash_before', vocabulary)]: done.before,
          [claimName('state_hash_after', vocabulary)]: done.after,
        },
      },
      keys.current,
    )
    return {
      rollback_id: asked.rollback_id,
      status: done.status,
      checkpoint_id: asked.checkpoint_id,
      state_hash_before: done.before,
      state_hash_after: done.after,
      cascaded: [],
      result_ect: result,
    }
  }
}

function parseRequest(body: unknown): RollbackRequest {
  const parsed = rollbackRequest.safeParse(body)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new Problem(
    'bad_request',
    `The rollback request is not as it should be: ${issue?.path.map(String).join('.') || 'the body'}: ${issue?.message ?? 'unreadable'}.`,
  )
}
