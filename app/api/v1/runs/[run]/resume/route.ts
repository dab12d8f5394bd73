export { resumeRun as POST } from '@/lib/server/handlers/runs'
