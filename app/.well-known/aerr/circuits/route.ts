import { getAerrCircuits } from '@/lib/server/handlers/aerr'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ GET: getAerrCircuits })
