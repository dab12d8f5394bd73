export { deleteAgent as DELETE, listAgents as GET, postAgent as POST } from '@/lib/server/handlers/agents'
