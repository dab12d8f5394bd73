export { listSessions as GET } from '@/lib/server/handlers/account'
