import { getAgentActivity } from '@/lib/server/handlers/agents'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ GET: getAgentActivity })
