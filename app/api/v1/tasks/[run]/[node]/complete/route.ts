import { postComplete } from '@/lib/server/handlers/tasks'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ POST: postComplete })
