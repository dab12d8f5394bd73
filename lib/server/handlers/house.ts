/** The installation itself: health and keys. */
import { route } from '../current'
import { json } from '../http/route'

/** `GET /api/v1/health`: answers as soon as the engine is there. */
export const getHealth = route({ auth: 'none' }, async () => json({ status: 'ok' }))

/** `GET /.well-known/jwks.json`, `GET /api/v1/keys`: public keys, present and former (RFC 7517). */
export const getKeys = route({ auth: 'none' }, async ({ installation }) => {
  return json(installation.keys.jwks(), { headers: { 'content-type': 'application/jwk-set+json' } })
})
