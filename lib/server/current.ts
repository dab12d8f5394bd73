/*
 * The installation of this process. Next loads routes and instrumentation as separate bundles, each with modules of its
 * own; what must exist once lives on `globalThis`.
 */
import { Problem } from '@/lib/base/problem'
import { routesFor } from './http/route'
import type { Installation } from './installation'

declare global {
  var holdpointInstallation: Promise<Installation> | undefined
}

/** The installation that lib/server/boot.ts opened. Throws Problem `internal` while there is none. */
export function installation(): Promise<Installation> {
  return (
    globalThis.holdpointInstallation ??
    Promise.reject(new Problem('internal', 'The server is still starting; ask again in a moment'))
  )
}

/** What a `route.ts` is made with. */
export const route = routesFor(installation)
