import { signInHandler } from '@/lib/server/http/sign-in'
import { installation } from '@/lib/server/installation'

export const GET = signInHandler(installation)
export const POST = signInHandler(installation)
