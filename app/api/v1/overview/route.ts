export { getOverview as GET } from '@/lib/server/handlers/overview'
