import { installation } from '@/lib/server/current'
import { signInHandler } from '@/lib/server/http/sign-in'

export const GET = signInHandler(installation)
export const POST = signInHandler(installation)
