export { validateWorkflow as POST } from '@/lib/server/handlers/workflows'
