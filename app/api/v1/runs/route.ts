export { listRuns as GET, postRun as POST } from '@/lib/server/handlers/runs'
