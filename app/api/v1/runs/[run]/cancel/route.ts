export { cancelRun as POST } from '@/lib/server/handlers/runs'
