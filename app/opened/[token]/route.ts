import { getOpened } from '@/lib/server/handlers/opened'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ GET: getOpened })
