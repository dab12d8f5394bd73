import { getLab } from '@/lib/server/handlers/lab'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ GET: getLab })
