import { listPools, putPool } from '@/lib/server/handlers/pools'
import { methods } from '@/lib/server/http/methods'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ GET: listPools, PUT: putPool })
