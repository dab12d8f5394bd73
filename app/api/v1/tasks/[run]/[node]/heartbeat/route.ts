export { postHeartbeat as POST } from '@/lib/server/handlers/tasks'
