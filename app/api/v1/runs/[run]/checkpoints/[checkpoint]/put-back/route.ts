import { getPutBack } from '@/lib/server/handlers/checkpoints'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ GET: getPutBack })
