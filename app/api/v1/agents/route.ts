export { listAgents as GET, postAgent as POST } from '@/lib/server/handlers/house'
