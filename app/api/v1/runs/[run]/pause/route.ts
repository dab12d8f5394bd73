export { pauseRun as POST } from '@/lib/server/handlers/runs'
