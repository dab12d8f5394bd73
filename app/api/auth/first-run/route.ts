import { installation } from '@/lib/server/current'
import { firstRunHandler } from '@/lib/server/http/sign-in'

export const POST = firstRunHandler(installation)
