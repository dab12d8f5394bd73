export { getRollback as GET } from '@/lib/server/handlers/rollbacks'
