export { postComplete as POST } from '@/lib/server/handlers/tasks'
