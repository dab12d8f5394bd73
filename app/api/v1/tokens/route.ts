import { listTokens, postToken } from '@/lib/server/handlers/tokens'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ GET: listTokens, POST: postToken })
