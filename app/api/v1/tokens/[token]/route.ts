import { deleteToken } from '@/lib/server/handlers/tokens'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ DELETE: deleteToken })
