import { getIndex } from '@/lib/server/handlers/index-of-api'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ GET: getIndex })
