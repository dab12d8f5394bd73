import { acceptInvitation } from '@/lib/server/handlers/people'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ POST: acceptInvitation })
