/*
 * An agent that is none of ours: a small HTTP server with a key of its own, registered by an administrator. It can be
 * called for steps, claims tasks over the API, keeps its state in memory, takes it back when asked, and signs requests.
 */
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hashJson } from '@/lib/base/hash'
import type { Claims } from '@/lib/ect/claims'
import { type SigningKey, signClaims } from '@/lib/ect/sign'

/** Whom agents address, as every installation is called unless it is told otherwise. */
export const installationId = 'spiffe://holdpoint.local/holdpoint'

export class OutsideAgent {
  readonly id: string
  readonly key: SigningKey
  readonly jwks: { keys: object[] }
  /** Seconds that its checkpoints are good for. */
  ttlS = 86_400
  /** Bodies of the rollback requests it was sent. */
  readonly rollbacks: unknown[] = []
  state = 'as it was'
  /** Rollbacks are taken and not answered while this is true. */
  keepsSilent = false
  /** What it is told to do is answered when this is over. */
  #held: Promise<void> | undefined
  #server: Server | undefined

  constructor(readonly name: string) {
    this.id = `spiffe://elsewhere.example/agent/${name}`
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const kid = `${name}-1`
    this.key = { kid, alg: 'ES256', privateKey: pair.privateKey }
    this.jwks = { keys: [{ ...pair.publicKey.export({ format: 'jwk' }), kid, alg: 'ES256' }] }
  }

  async listen(): Promise<void> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', async () => {
        const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>
        if (body.phase === 'execute') await this.#held
        const answer = request.url?.endsWith('/rollback') ? this.#rollBack(body) : this.#do(body)
        if (answer) response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    this.#server = server
  }

  get baseUrl(): string {
    const address = this.#server?.address() as AddressInfo | undefined
    return `http://127.0.0.1:${address?.port ?? 0}`
  }

  get rollbackUri(): string {
    return `${this.baseUrl}/.well-known/atd/rollback`
  }

  get stateHash(): string {
    return hashJson(this.state)
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections()
    await new Promise((resolve) => this.#server?.close(resolve))
  }

  /** Holds back what it is told to do until the function that this gives is called. */
  holdEffects(): () => void {
    let letGo = () => {}
    this.#held = new Promise((resolve) => {
      letGo = resolve
    })
    return () => letGo()
  }

  /** A signed request for a rollback of what a checkpoint sealed. */
  rollbackToken(run: string, checkpoint: string, change: Partial<Claims> = {}): string {
    return signClaims(this.rollbackClaims(run, checkpoint, change), this.key)
  }

  rollbackClaims(run: string, checkpoint: string, change: Partial<Claims> = {}): Claims {
    const iat = Math.floor(Date.now() / 1000)
    return {
      iss: this.id,
      aud: installationId,
      iat,
      exp: iat + 600,
      jti: randomUUID(),
      wid: uuidOf(run),
      exec_act: 'atd:rollback_request',
      par: [checkpoint],
      ext: { 'atd.reason': 'It was the wrong peer.' },
      ...change,
    }
  }

  #do(body: Record<string, unknown>): object {
    switch (body.phase) {
      case 'describe':
        return { sentence: `Changes ${this.name}.`, target: this.name, consequence: 'reversible' }
      case 'checkpoint':
        return {
          checkpoint_id: body.checkpoint_id,
          out_hash: this.stateHash,
          ttl: this.ttlS,
          rollback_uri: this.rollbackUri,
          reversible: true,
          target: this.name,
          description: `State of ${this.name}`,
        }
      case 'execute':
        this.state = 'changed'
        return { output: { changed: true } }
      default:
        return { state_hash: this.stateHash, outcome: 'unknown' }
    }
  }

  #rollBack(body: Record<string, unknown>): object | undefined {
    this.rollbacks.push(body)
    if (this.keepsSilent) return undefined
    const before = this.stateHash
    this.state = 'as it was'
    return { status: 'completed', state_hash_before: before, state_hash_after: this.stateHash }
  }
}

/** `run_0123…` as the UUID that tokens carry. */
export function uuidOf(run: string): string {
  return run.replace(/^run_(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
