export { acceptInvitation as POST } from '@/lib/server/handlers/people'
