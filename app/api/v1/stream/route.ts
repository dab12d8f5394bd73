export { getStream as GET } from '@/lib/server/handlers/stream'
