export { postChoice as POST } from '@/lib/server/handlers/rollbacks'
