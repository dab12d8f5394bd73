import { postProbe } from '@/lib/server/handlers/circuits'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ POST: postProbe })
