export { listTokens as GET, postToken as POST } from '@/lib/server/handlers/tokens'
