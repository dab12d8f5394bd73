import { postFault } from '@/lib/server/handlers/lab'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ POST: postFault })
