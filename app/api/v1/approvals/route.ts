export { listApprovals as GET } from '@/lib/server/handlers/approvals'
