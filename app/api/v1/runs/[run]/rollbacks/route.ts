import { postRollback } from '@/lib/server/handlers/rollbacks'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ POST: postRollback })
