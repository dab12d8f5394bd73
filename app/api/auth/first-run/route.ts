import { firstRunHandler } from '@/lib/server/http/sign-in'
import { installation } from '@/lib/server/installation'

export const POST = firstRunHandler(installation)
