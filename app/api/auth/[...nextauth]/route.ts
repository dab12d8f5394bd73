import { installation } from '@/lib/server/current'
import { methods } from '@/lib/server/http/methods'
import { signInHandler } from '@/lib/server/http/sign-in'

const handler = signInHandler(installation)

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ GET: handler, POST: handler })
