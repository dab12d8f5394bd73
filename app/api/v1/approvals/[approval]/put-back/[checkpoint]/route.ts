import { getApprovalPutBack } from '@/lib/server/handlers/approvals'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ GET: getApprovalPutBack })
