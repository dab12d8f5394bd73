export { getLedger as GET } from '@/lib/server/handlers/runs'
