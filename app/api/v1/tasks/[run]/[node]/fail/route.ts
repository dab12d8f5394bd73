export { postFail as POST } from '@/lib/server/handlers/tasks'
