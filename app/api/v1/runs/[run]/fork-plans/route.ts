import { postForkPlan } from '@/lib/server/handlers/forks'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ POST: postForkPlan })
