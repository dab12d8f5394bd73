import { postPolicyCheck } from '@/lib/server/handlers/policy'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ POST: postPolicyCheck })
