import { getExport } from '@/lib/server/handlers/export'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ GET: getExport })
