import { getForks, postFork } from '@/lib/server/handlers/forks'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ GET: getForks, POST: postFork })
