export { lookUpKeys as POST } from '@/lib/server/handlers/agents'
