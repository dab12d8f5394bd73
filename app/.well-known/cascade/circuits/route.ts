import { getCascadeCircuits } from '@/lib/server/handlers/cascade'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ GET: getCascadeCircuits })
