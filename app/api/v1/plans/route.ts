import { getPlanChoices, postPlan } from '@/lib/server/handlers/plans'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: getPlanChoices,
  POST: postPlan,
})
