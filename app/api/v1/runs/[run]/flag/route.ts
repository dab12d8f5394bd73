import { postFlag } from '@/lib/server/handlers/flags'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ POST: postFlag })
