export { listWorkflows as GET, postWorkflow as POST } from '@/lib/server/handlers/workflows'
