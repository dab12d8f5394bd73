export { getWorkflow as GET } from '@/lib/server/handlers/workflows'
