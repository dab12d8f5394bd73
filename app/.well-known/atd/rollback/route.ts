export { postAgentRollback as POST } from '@/lib/server/handlers/well-known'
