export { patchPassword as PATCH } from '@/lib/server/handlers/account'
