/** The installation itself: health, keys, exports. */
import { bundleMediaType } from '../bundle/bundle'
import { collectBundle, writeBundle } from '../bundle/write-bundle'
import { route } from '../current'
import { json } from '../http/route'
import { runIdFrom } from '../run-id'

/** `GET /api/v1/health`: answers as soon as the engine is there. */
export const getHealth = route({ auth: 'none' }, async () => json({ status: 'ok' }))

/** `GET /.well-known/jwks.json`, `GET /api/v1/keys`: public keys, present and former (RFC 7517). */
export const getKeys = route({ auth: 'none' }, async ({ installation }) => {
  return json(installation.keys.jwks(), { headers: { 'content-type': 'application/jwk-set+json' } })
})

/** `GET /api/v1/runs/{run}/export`: the signed bundle. */
export const getExport = route({ auth: 'either', scope: 'export:read', role: 'viewer' }, async (call) => {
  const { installation, params } = call
  const runId = runIdFrom(params.run)
  const { store, keys, ports } = installation
  const contents = await collectBundle(runId, {
    ledger: store.ledger,
    workflows: store.workflows,
    keys: keys.jwks(),
  })
  const pieces = writeBundle(contents, keys.current, ports.timer.now())
  return new Response(new Blob(pieces as Uint8Array<ArrayBuffer>[]), {
    headers: {
      'content-type': bundleMediaType,
      'content-disposition': `attachment; filename="${runId}.holdpoint.tar"`,
    },
  })
})
