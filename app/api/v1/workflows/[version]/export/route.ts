export { exportWorkflowText as GET } from '@/lib/server/handlers/workflows'
