export { postPlan as POST } from '@/lib/server/handlers/rollbacks'
