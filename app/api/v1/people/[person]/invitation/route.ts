export { postInvitation as POST } from '@/lib/server/handlers/people'
