/*
 * The link that `holdpoint open` prints: whoever follows it on this machine is the visitor. Following it changes nothing
 * here, as the visitor's session was made with the store; it only hands the cookie out, and goes on to the run.
 */
import { encode } from 'next-auth/jwt'
import { sessionCookieName } from '@/lib/auth/sessions'
import { sha256 } from '@/lib/base/hash'
import { Problem } from '@/lib/base/problem'
import { route } from '../current'
import { addressOf } from '../http/client-address'

const loopback = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/
/** A name that another site may have pointed at this machine is not ours. */
const ownHost = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/

/** `GET /opened/{token}` */
export const getOpened = route({ auth: 'none' }, async ({ installation, params, request }) => {
  const { opened, auth } = installation
  const isHere = loopback.test(addressOf(request)) && ownHost.test(request.headers.get('host') ?? '')
  if (!opened || !isHere || sha256(params.token ?? '') !== opened.link)
    throw new Problem('not_found', 'There is nothing at this address.')
  const value = await encode({ token: { sid: opened.session }, secret: auth.sessionSecret })
  const cookie = `${sessionCookieName(auth)}=${value}; Path=/; HttpOnly; SameSite=Lax`
  return new Response(null, {
    status: 303,
    headers: { location: `/runs/${encodeURIComponent(opened.run)}`, 'set-cookie': cookie },
  })
})
