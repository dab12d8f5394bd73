import { postBinding } from '@/lib/server/handlers/workflows'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ POST: postBinding })
