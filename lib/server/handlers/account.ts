/** One's own account: who is signed in, the password, and the sessions. */
import { z } from 'zod'
import { changeOwnPassword, endSessions } from '@/lib/auth/accounts'
import type { Person, SessionRow } from '@/lib/view/person-wire'
import type { Page } from '@/lib/view/wire'
import { route } from '../current'
import { json } from '../http/route'

/** `GET /api/v1/me` */
export const getMe = route({ auth: 'session' }, async ({ principal }) =>
  json({ id: principal.id, name: principal.name, roles: [...principal.roles] } satisfies Person),
)

const passwordBody = z.strictObject({ password: z.string().max(2_000), new_password: z.string().max(2_000) })

/** `PATCH /api/v1/me/password`: every other session ends. */
export const patchPassword = route(
  { auth: 'session', body: passwordBody },
  async ({ installation, principal, body }) => {
    const { password, new_password: newPassword } = body
    await changeOwnPassword(installation.auth, principal, { password, newPassword })
    return new Response(null, { status: 204 })
  },
)

/** `GET /api/v1/me/sessions`: those that are good now, newest first. */
export const listSessions = route({ auth: 'session' }, async ({ installation, principal }) => {
  const sessions = await installation.people.sessionsOf(principal.id, installation.auth.clock.now())
  const items = sessions.map(({ hash, createdAt, expiresAt, address, agent }) => {
    return { id: hash, createdAt, expiresAt, address, agent, current: hash === principal.session }
  })
  return json({ items } satisfies Page<SessionRow>)
})

/** `DELETE /api/v1/me/sessions/{session}` */
export const endSession = route({ auth: 'session' }, async ({ installation, principal, params }) => {
  await installation.people.endSessionOf(params.session ?? '', principal.id, installation.auth.clock.now())
  return new Response(null, { status: 204 })
})

/** `POST /api/v1/me/sessions/end`: all but the one that asks. */
export const endOtherSessions = route({ auth: 'session' }, async ({ installation, principal }) =>
  json({ ended: await endSessions(installation.auth, principal.id, principal.session) }),
)
