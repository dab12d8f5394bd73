export { postToken as POST } from '@/lib/server/handlers/house'
