import { getPlan, postPlan } from '@/lib/server/handlers/rollbacks'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ GET: getPlan, POST: postPlan })
