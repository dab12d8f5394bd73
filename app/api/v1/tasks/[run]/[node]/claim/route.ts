export { postClaim as POST } from '@/lib/server/handlers/tasks'
