export { endPersonsSessions as POST } from '@/lib/server/handlers/people'
