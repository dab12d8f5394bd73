export { postCheckpoint as POST } from '@/lib/server/handlers/tasks'
