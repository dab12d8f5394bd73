export { postDecision as POST } from '@/lib/server/handlers/approvals'
