import { installation } from '@/lib/server/current'
import { methods } from '@/lib/server/http/methods'
import { firstRunHandler } from '@/lib/server/http/sign-in'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: firstRunHandler(installation),
})
