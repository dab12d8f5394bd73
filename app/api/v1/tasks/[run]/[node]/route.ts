export { getTask as GET } from '@/lib/server/handlers/tasks'
