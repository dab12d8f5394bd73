export { listTasks as GET } from '@/lib/server/handlers/tasks'
