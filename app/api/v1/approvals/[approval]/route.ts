export { getApproval as GET } from '@/lib/server/handlers/approvals'
