export { postRollback as POST } from '@/lib/server/handlers/rollbacks'
