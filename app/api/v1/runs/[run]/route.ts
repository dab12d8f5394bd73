export { getRun as GET } from '@/lib/server/handlers/runs'
