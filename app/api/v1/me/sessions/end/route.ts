export { endOtherSessions as POST } from '@/lib/server/handlers/account'
