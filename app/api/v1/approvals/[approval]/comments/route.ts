export { postComment as POST } from '@/lib/server/handlers/approvals'
