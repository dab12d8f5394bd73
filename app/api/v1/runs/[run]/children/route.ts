import { getChildren } from '@/lib/server/handlers/runs'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ GET: getChildren })
