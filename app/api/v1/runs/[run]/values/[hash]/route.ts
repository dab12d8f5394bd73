export { getValue as GET } from '@/lib/server/handlers/runs'
