import { postAgentRollback } from '@/lib/server/handlers/well-known'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ POST: postAgentRollback })
